// Svelte 5: the page is Form.svelte.
import { mount } from 'svelte';
import Form from './Form.svelte';

mount(Form, { target: document.getElementById('root') });
