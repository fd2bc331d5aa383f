// Lexical: an editor that undoes what is put into its nodes behind its back.
import { createRoot } from 'react-dom/client';
import { LexicalComposer } from '@lexical/react/LexicalComposer';
import { ContentEditable } from '@lexical/react/LexicalContentEditable';
import { LexicalErrorBoundary } from '@lexical/react/LexicalErrorBoundary';
import { HistoryPlugin } from '@lexical/react/LexicalHistoryPlugin';
import { OnChangePlugin } from '@lexical/react/LexicalOnChangePlugin';
import { RichTextPlugin } from '@lexical/react/LexicalRichTextPlugin';
import { $getRoot, $createParagraphNode, $createTextNode } from 'lexical';

const start = () => $getRoot().append(...['first words', 'second'].map((text) => $createParagraphNode().append($createTextNode(text))));
const changed = (editor) => editor.read(() => { window.state = { text: $getRoot().getTextContent(), blocks: $getRoot().getChildrenSize() }; });

createRoot(document.getElementById('root')).render(
  <LexicalComposer initialConfig={{ namespace: 'page', theme: {}, editorState: start, onError: (error) => { throw error; } }}>
    <RichTextPlugin contentEditable={<ContentEditable aria-label="Story" />} placeholder={null} ErrorBoundary={LexicalErrorBoundary} />
    <HistoryPlugin />
    <OnChangePlugin ignoreSelectionChange={false} onChange={changed} />
  </LexicalComposer>,
);
window.state = { text: 'first words', blocks: 2 };
