// CodeMirror 6: draws the lines that are in view alone, and closes brackets for who types.
import { basicSetup, EditorView } from 'codemirror';

const view = new EditorView({
  doc: 'old line\nanother',
  extensions: [basicSetup, EditorView.contentAttributes.of({ 'aria-label': 'Source' }), EditorView.theme({ '&': { maxHeight: '200px' }, '.cm-scroller': { overflow: 'auto' } })],
  parent: document.getElementById('root'),
});
Object.defineProperty(window, 'state', { get: () => ({ text: view.state.doc.toString() }) });
