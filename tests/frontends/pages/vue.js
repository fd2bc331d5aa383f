// Vue: v-model in all its forms, with the modifiers that change when and what is taken.
import { createApp } from 'vue';

createApp({
  data: () => ({ name: '', notes: 'old', lazy: '', trimmed: '', count: 0, day: '', land: 'no', terms: false, plan: 'a', tags: [], sent: 0 }),
  mounted() { window.state = this.$data; },
  template: `<form @submit.prevent="sent++">
    <label>Name <input v-model="name"></label>
    <label>Notes <textarea v-model="notes"></textarea></label>
    <label>Lazy <input v-model.lazy="lazy"></label>
    <label>Trimmed <input v-model.trim="trimmed"></label>
    <label>Count <input type="number" v-model.number="count"></label>
    <label>Day <input type="date" v-model="day"></label>
    <label>Land <select v-model="land"><option value="no">Norway</option><option value="se">Sweden</option></select></label>
    <label><input type="checkbox" v-model="terms"> I accept</label>
    <label v-for="tag in ['red', 'blue']"><input type="checkbox" :value="tag" v-model="tags"> {{ tag }}</label>
    <label v-for="one in ['a', 'b']"><input type="radio" :value="one" v-model="plan"> Plan {{ one.toUpperCase() }}</label>
    <button>Send</button>
  </form>`,
}).mount('#root');
