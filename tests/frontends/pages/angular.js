// Angular, without zones: two-way bindings, reactive forms with validators, a value accessor, and a list that a signal holds.
import '@angular/compiler';
import { Component, forwardRef, provideZonelessChangeDetection, signal } from '@angular/core';
import { FormControl, FormGroup, FormsModule, NG_VALUE_ACCESSOR, ReactiveFormsModule, Validators } from '@angular/forms';
import { bootstrapApplication } from '@angular/platform-browser';

// A switch of its own that takes part in forms.
class Toggle {
  on = signal(false);
  tell = () => {};
  writeValue(value) { this.on.set(Boolean(value)); }
  registerOnChange(tell) { this.tell = tell; }
  registerOnTouched() {}
  flip() { this.on.set(!this.on()); this.tell(this.on()); }
}
Toggle = Component({
  selector: 'app-toggle',
  providers: [{ provide: NG_VALUE_ACCESSOR, useExisting: forwardRef(() => Toggle), multi: true }],
  template: `<button type="button" role="switch" aria-label="Dark" [attr.aria-checked]="on()" (click)="flip()">Dark</button>`,
})(Toggle);

class App {
  name = signal('');
  notes = signal('old');
  land = signal('no');
  lands = [{ id: 'no', name: 'Norway' }, { id: 'se', name: 'Sweden' }];
  items = signal(['red', 'blue']);
  sent = signal(0);
  form = new FormGroup({
    mail: new FormControl('', { nonNullable: true, validators: [Validators.required, Validators.email] }),
    late: new FormControl('', { nonNullable: true, updateOn: 'blur' }),
    count: new FormControl(0),
    day: new FormControl(''),
    terms: new FormControl(false),
    plan: new FormControl('a'),
    dark: new FormControl(false),
  });
  constructor() {
    const app = this;
    window.state = {
      get name() { return app.name(); },
      get notes() { return app.notes(); },
      get land() { return app.land(); },
      get items() { return app.items(); },
      get sent() { return app.sent(); },
      get form() { return app.form.value; },
      get valid() { return app.form.valid; },
    };
  }
  add(field) { this.items.update((items) => [...items, field.value]); field.value = ''; }
  remove(item) { this.items.update((items) => items.filter((other) => other !== item)); }
}
App = Component({
  selector: 'app-root',
  imports: [FormsModule, ReactiveFormsModule, Toggle],
  template: `
    <label>Name <input [(ngModel)]="name"></label>
    <label>Notes <textarea [(ngModel)]="notes"></textarea></label>
    <label>Land <select [(ngModel)]="land">@for (land of lands; track land.id) {<option [ngValue]="land.id">{{ land.name }}</option>}</select></label>
    <form [formGroup]="form" (ngSubmit)="sent.set(sent() + 1)">
      <label>Mail <input formControlName="mail"></label>
      @if (form.controls.mail.invalid) { <p>No mail address</p> }
      <label>Late <input formControlName="late"></label>
      <label>Count <input type="number" formControlName="count"></label>
      <label>Day <input type="date" formControlName="day"></label>
      <label><input type="checkbox" formControlName="terms"> I accept</label>
      <label><input type="radio" value="a" formControlName="plan"> Plan A</label>
      <label><input type="radio" value="b" formControlName="plan"> Plan B</label>
      <app-toggle formControlName="dark" />
      <button [disabled]="form.invalid">Send</button>
    </form>
    <label>New <input #field></label><button type="button" (click)="add(field)">Add</button>
    <ul>@for (item of items(); track item) { <li>{{ item }} <button type="button" (click)="remove(item)">Remove {{ item }}</button></li> }</ul>`,
})(App);

const root = document.createElement('app-root');
document.getElementById('root').append(root);
bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] });
