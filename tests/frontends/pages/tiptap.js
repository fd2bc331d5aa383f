// TipTap on ProseMirror: an editor whose document is its own model.
import { Editor } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';

const root = document.getElementById('root');
root.innerHTML = '<button id="bold" type="button" aria-pressed="false">Bold</button><div id="editor"></div>';
const bold = document.getElementById('bold');
const editor = new Editor({
  element: document.getElementById('editor'),
  extensions: [StarterKit],
  content: '<p>first <strong>words</strong></p><p>second</p>',
  editorProps: { attributes: { role: 'textbox', 'aria-label': 'Story', 'aria-multiline': 'true' } },
  onTransaction: ({ editor }) => { bold.ariaPressed = String(editor.isActive('bold')); },
});
bold.onclick = () => editor.chain().focus().toggleBold().run();
Object.defineProperty(window, 'state', {
  get: () => ({ text: editor.getText({ blockSeparator: '\n' }), html: editor.getHTML() }),
});
