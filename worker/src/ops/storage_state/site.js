// What one origin keeps, read and written in an empty document of it. Evaluated as one expression: an object of two
// functions. Values are written as Playwright writes them, so that its files can be read and ours by it.
(() => {
  const KINDS = {
    i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array, i32: Int32Array,
    ui32: Uint32Array, f32: Float32Array, f64: Float64Array, bi64: BigInt64Array, bui64: BigUint64Array,
  };

  class NoForm extends Error {}
  class TooLarge extends Error {}

  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  const ended = transaction => new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });

  const base64 = bytes => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 0x8000) {
      text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    }
    return btoa(text);
  };

  const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));

  const isPlain = value => {
    const parent = Object.getPrototypeOf(value);
    return parent === Object.prototype || parent === null;
  };

  /** Whether JSON alone keeps the value as it is. */
  const isTrivial = (value, above = []) => {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
    if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value !== 'object' || above.includes(value) || above.length > 200) return false;
    const inner = [...above, value];
    if (Array.isArray(value)) {
      return Object.keys(value).length === value.length && value.every(item => isTrivial(item, inner));
    }
    return isPlain(value) && Object.values(value).every(item => isTrivial(item, inner));
  };

  const encode = (value, seen = new Map()) => {
    if (value === undefined) return { v: 'undefined' };
    if (value === null) return { v: 'null' };
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'bigint') return { bi: value.toString() };
    if (typeof value === 'number') {
      if (Object.is(value, -0)) return { v: '-0' };
      return Number.isFinite(value) ? value : { v: String(value) };
    }
    if (value instanceof Date) return { d: value.toJSON() };
    if (value instanceof RegExp) return { r: { p: value.source, f: value.flags } };
    if (value instanceof Error) return { e: { n: value.name, m: value.message, s: value.stack || '' } };
    if (value instanceof ArrayBuffer) return { ab: { b: base64(new Uint8Array(value)) } };
    for (const [k, kind] of Object.entries(KINDS)) {
      if (value instanceof kind) {
        return { ta: { b: base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), k } };
      }
    }
    if (seen.has(value)) return { ref: seen.get(value) };
    const id = seen.size + 1;
    if (Array.isArray(value)) {
      seen.set(value, id);
      return { a: Array.from(value, item => encode(item, seen)), id };
    }
    if (!isPlain(value)) throw new NoForm();
    seen.set(value, id);
    return { o: Object.keys(value).map(k => ({ k, v: encode(value[k], seen) })), id };
  };

  const decode = (value, seen = new Map()) => {
    if (value === undefined) return undefined;
    if (value === null || typeof value !== 'object') return value;
    if ('ref' in value) return seen.get(value.ref);
    if ('v' in value) {
      const named = { undefined: undefined, null: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 };
      if (!Object.hasOwn(named, value.v)) throw new NoForm();
      return named[value.v];
    }
    if ('d' in value) return new Date(value.d);
    if ('u' in value) return new URL(value.u).href;
    if ('bi' in value) return BigInt(value.bi);
    if ('r' in value) return new RegExp(value.r.p, value.r.f);
    if ('e' in value) return Object.assign(new Error(value.e.m), { name: value.e.n, stack: value.e.s });
    if ('ab' in value) return bytes(value.ab.b).buffer;
    if ('ta' in value) {
      if (!Object.hasOwn(KINDS, value.ta.k)) throw new NoForm();
      return new KINDS[value.ta.k](bytes(value.ta.b).buffer);
    }
    if ('a' in value) {
      const list = [];
      seen.set(value.id, list);
      for (const item of value.a) list.push(decode(item, seen));
      return list;
    }
    if ('o' in value) {
      const object = {};
      seen.set(value.id, object);
      for (const { k, v } of value.o) {
        Object.defineProperty(object, k, { value: decode(v, seen), configurable: true, enumerable: true, writable: true });
      }
      return object;
    }
    throw new NoForm();
  };

  const path = from => (typeof from === 'string' ? { keyPath: from } : Array.isArray(from) ? { keyPathArray: from } : {});

  const items = area => {
    const all = [];
    for (let at = 0; at < area.length; at += 1) {
      const name = area.key(at);
      all.push({ name, value: area.getItem(name) });
    }
    return all;
  };

  const put = (area, wanted, what, refused) => {
    let there = 0;
    for (const { name, value } of wanted) {
      try {
        area.setItem(name, value);
      } catch {
        // Told below: what counts is what is there.
      }
      if (area.getItem(name) === value) there += 1;
      else refused.push({ what, name, reason: 'quota' });
    }
    return there;
  };

  const saveStore = async (store, budget) => {
    const records = [];
    let noForm = 0;
    await new Promise((resolve, reject) => {
      const request = store.openCursor();
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor) return resolve();
        try {
          const record = {};
          if (store.keyPath === null) {
            if (isTrivial(cursor.key)) record.key = cursor.key;
            else record.keyEncoded = encode(cursor.key);
          }
          if (isTrivial(cursor.value)) record.value = cursor.value;
          else record.valueEncoded = encode(cursor.value);
          budget.left -= JSON.stringify(record).length;
          if (budget.left < 0) return reject(new TooLarge());
          records.push(record);
        } catch (error) {
          if (!(error instanceof NoForm)) return reject(error);
          noForm += 1;
        }
        cursor.continue();
      };
    });
    const indexes = Array.from(store.indexNames, name => {
      const index = store.index(name);
      return { name: index.name, ...path(index.keyPath), multiEntry: index.multiEntry, unique: index.unique };
    });
    const form = { name: store.name, records, indexes, autoIncrement: store.autoIncrement, ...path(store.keyPath) };
    return { form, noForm };
  };

  const saveDatabase = async ({ name, version }, budget, refused) => {
    const database = await done(indexedDB.open(name));
    try {
      const stores = [];
      for (const storeName of database.objectStoreNames) {
        const { form, noForm } = await saveStore(database.transaction(storeName).objectStore(storeName), budget);
        stores.push(form);
        if (noForm > 0) refused.push({ what: 'indexedDB', name: `${name}/${storeName}`, reason: 'no_such_form', count: noForm });
      }
      return { name, version, stores };
    } finally {
      database.close();
    }
  };

  const save = async budget => {
    const refused = [];
    const indexedDBs = [];
    const left = { left: budget };
    for (const info of await indexedDB.databases()) {
      try {
        indexedDBs.push(await saveDatabase(info, left, refused));
      } catch (error) {
        const reason = error instanceof TooLarge ? 'too_many' : 'refused_by_browser';
        refused.push({ what: 'indexedDB', name: info.name, reason });
      }
    }
    return { origin: location.origin, localStorage: items(localStorage), indexedDB: indexedDBs, refused };
  };

  const loadDatabase = async (form, refused) => {
    await done(indexedDB.deleteDatabase(form.name));
    const opening = indexedDB.open(form.name, form.version);
    opening.onupgradeneeded = () => {
      for (const store of form.stores) {
        const options = { autoIncrement: Boolean(store.autoIncrement), keyPath: store.keyPathArray ?? store.keyPath ?? null };
        const made = opening.result.createObjectStore(store.name, options);
        for (const index of store.indexes ?? []) {
          const { unique, multiEntry } = index;
          made.createIndex(index.name, index.keyPathArray ?? index.keyPath, { unique, multiEntry });
        }
      }
    };
    const database = await done(opening);
    let there = 0;
    try {
      for (const store of form.stores) {
        const transaction = database.transaction(store.name, 'readwrite');
        const end = ended(transaction);
        const into = transaction.objectStore(store.name);
        let refusedHere = 0;
        for (const record of store.records) {
          try {
            const value = 'value' in record ? record.value : decode(record.valueEncoded);
            const key = 'key' in record ? record.key : decode(record.keyEncoded);
            const request = key === undefined ? into.add(value) : into.add(value, key);
            request.onerror = event => {
              event.preventDefault();
              event.stopPropagation();
              refusedHere += 1;
            };
          } catch {
            refusedHere += 1;
          }
        }
        await end;
        there += await done(database.transaction(store.name).objectStore(store.name).count());
        if (refusedHere > 0) {
          refused.push({ what: 'indexedDB', name: `${form.name}/${store.name}`, reason: 'refused_by_browser', count: refusedHere });
        }
      }
    } finally {
      database.close();
    }
    return there;
  };

  const load = async wanted => {
    const refused = [];
    let records = 0;
    for (const form of wanted.indexedDB ?? []) {
      try {
        records += await loadDatabase(form, refused);
      } catch {
        refused.push({ what: 'indexedDB', name: String(form.name), reason: 'refused_by_browser' });
      }
    }
    const local = put(localStorage, wanted.localStorage ?? [], 'localStorage', refused);
    return { origin: location.origin, localStorage: local, records, refused };
  };

  return { save, load };
})()
