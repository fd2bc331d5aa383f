// flatpickr: a field that may be typed into, one that only the calendar changes, and one with another look.
import flatpickr from 'flatpickr';
import 'flatpickr/dist/flatpickr.css';

document.getElementById('root').innerHTML = '<label>Day <input id="day"></label><label for="only">Only</label> <input id="only"><label>Nice <input id="nice"></label><p>End</p>';
const show = (field) => (dates, text) => { window.state[field] = text; };
window.state = {};
const options = { disableMobile: true, defaultDate: '2026-11-10' };
flatpickr('#day', { ...options, allowInput: true, onChange: show('day') });
flatpickr('#only', { ...options, onChange: show('only') });
flatpickr('#nice', { ...options, altInput: true, altFormat: 'F j, Y', allowInput: true, onChange: show('nice') });
