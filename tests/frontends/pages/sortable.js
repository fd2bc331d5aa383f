// SortableJS: sorting by the browser's own drag and drop, between two lists, and by its own pointer fallback.
import Sortable from 'sortablejs';

const list = (id, items) => `<ul id="${id}" aria-label="${id}" style="min-height:40px;border:1px solid">${items.map((item) => `<li style="height:30px">${item}</li>`).join('')}</ul>`;
document.getElementById('root').innerHTML = list('todo', ['One', 'Two', 'Three']) + list('done', ['Zero']) + list('fallback', ['Ape', 'Bee', 'Cat']);
const texts = (id) => [...document.getElementById(id).children].map((item) => item.textContent).join();
const moved = () => { window.state = { todo: texts('todo'), done: texts('done'), fallback: texts('fallback'), ends: (window.state?.ends ?? -1) + 1 }; };
for (const id of ['todo', 'done']) Sortable.create(document.getElementById(id), { group: 'tasks', animation: 0, onEnd: moved });
Sortable.create(document.getElementById('fallback'), { forceFallback: true, animation: 0, onEnd: moved });
moved();
