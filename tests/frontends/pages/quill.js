// Quill: an editor over a Delta, with a tool bar.
import Quill from 'quill';
import 'quill/dist/quill.snow.css';

const root = document.getElementById('root');
root.innerHTML = '<div id="editor"><p>old <b>text</b></p></div>';
const quill = new Quill('#editor', { theme: 'snow', modules: { toolbar: [['bold', 'italic'], [{ list: 'bullet' }]] } });
quill.root.setAttribute('role', 'textbox');
quill.root.setAttribute('aria-label', 'Story');
Object.defineProperty(window, 'state', { get: () => ({ text: quill.getText(), html: quill.root.innerHTML }) });
