// Forms for records: a field of each type, and lists of them.

const fieldTypes = [
  ['STRING', 'text'], ['INT64', 'whole number'], ['DOUBLE', 'number'], ['TIMESTAMP', 'date'],
  ['BYTES', 'bytes'], ['REFERENCE', 'reference'], ['LOCATION', 'location'], ['ASSETID', 'file'],
];
const hints = {
  STRING: '', INT64: '42', DOUBLE: '2.5', TIMESTAMP: '2026-11-23T10:00:00Z',
  BYTES: 'base64, such as 3q2+7w==', REFERENCE: 'name of a record',
  LOCATION: 'latitude, longitude',
};
// A value of each type, in words and as an example, for a text that stands for none.
const wanted = {
  INT64: ['a whole number', '42'], DOUBLE: ['a number', '2.5'],
  TIMESTAMP: ['a date', '2026-11-23T10:00:00Z'], BYTES: ['bytes in base64', '3q2+7w=='],
  REFERENCE: ['the name of a record', 'groceries'], LOCATION: ['a location', '48.2, 16.4'],
};
const fieldNameForm = /^[A-Za-z][A-Za-z0-9_$]{0,254}$/;
const base64Form = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const wholeForm = /^-?\d{1,19}$/;
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

function typeWords(type) {
  const inner = type.replace(/_LIST$/, '');
  const words = (fieldTypes.find(([name]) => name === inner) || [inner, inner.toLowerCase()])[1];
  return inner === type ? words : 'list: ' + words;
}

// The value that a text stands for; the text itself, if it stands for none.
function typedValue(text, type) {
  const clean = text.trim();
  switch (type) {
  case 'INT64': case 'DOUBLE': return numberForm.test(clean) ? new Literal(clean) : text;
  case 'TIMESTAMP': {
    const time = /^\d{4}-/.test(clean) ? Date.parse(clean.replace(' ', 'T')) : NaN;
    return isNaN(time) ? text : time;
  }
  case 'REFERENCE': return {recordName: clean, action: 'NONE'};
  case 'LOCATION': {
    const [latitude, longitude, ...more] = clean.split(',').map(part => part.trim());
    const good = !more.length && [latitude, longitude].every(part => numberForm.test(part));
    return good ? {latitude: new Literal(latitude), longitude: new Literal(longitude)} : text;
  }
  default: return text;
  }
}

// The value of a field's input; a text that stands for none is refused with the field's name.
function checkedValue(text, type, label) {
  const clean = text.trim();
  const value = type === 'BYTES' ? clean : typedValue(text, type);
  const isWhole = () => wholeForm.test(clean) && BigInt.asIntN(64, BigInt(clean)) == BigInt(clean);
  const fits = type === 'INT64' ? isWhole() : type === 'BYTES' ? base64Form.test(clean)
    : type === 'REFERENCE' ? clean !== '' : type === 'STRING' || value !== text;
  if (fits) return value;
  const [words, example] = wanted[type];
  throw new Refused(400, label + ': ' + (clean ? '“' + cut(clean, 40) + '” is not ' : 'enter ')
    + words + ', such as ' + example + '.');
}

function editedText(value, type) {
  if (value === undefined || value === null) return '';
  if (type === 'TIMESTAMP') return plain(value, type).replace(' ', 'T');
  if (type === 'REFERENCE') return value.recordName;
  if (type === 'LOCATION') return value.latitude + ', ' + value.longitude;
  return String(value);
}

const actions = [['NONE', 'refers'], ['DELETE_SELF', 'is owned'], ['VALIDATE', 'must exist']];

// An input for one value: its element, and a function that returns the value; `upload` is given a
// file and returns what the server calls it.
function valueInput(value, type, label) {
  if (type === 'ASSETID') {
    const input = make('input', {type: 'file', 'aria-label': label});
    const now = value && span('dim', plain(value, type));
    return {
      element: make('div', {class: 'stack'}, now, input),
      read: async upload => input.files.length ? upload(input.files[0]) : value,
      mark: () => [...input.files].map(file => file.name + file.size + file.lastModified),
    };
  }
  const text = editedText(value, type);
  const long = type === 'STRING' && (text.length > 60 || text.includes('\n'));
  const input = make(long || type === 'BYTES' ? 'textarea' : 'input', {
    'aria-label': label, placeholder: hints[type], rows: long ? '5' : type === 'BYTES' && '2',
    autocomplete: 'off', spellcheck: type === 'STRING' ? null : 'false', dir: 'auto',
  });
  input.value = text;
  if (type !== 'REFERENCE') {
    return {element: input, read: async () => checkedValue(input.value, type, label),
      mark: () => input.value};
  }
  const action = make('select', {'aria-label': label + ': what the reference does'},
    ...actions.map(([name, words]) => make('option',
      {value: name, selected: value && value.action === name}, words)));
  return {
    element: make('div', {class: 'pair'}, input, action),
    read: async () => ({...checkedValue(input.value, type, label), action: action.value,
      zoneID: value && value.zoneID}),
    mark: () => [input.value, action.value],
  };
}

function listInput(values, type, label) {
  const inner = type.replace(/_LIST$/, '');
  const rows = [];
  const list = make('ol', {class: 'items', 'data-none': 'No items.'});
  const add = value => {
    const input = valueInput(value, inner, label + ', item ' + (rows.length + 1));
    const row = {input};
    rows.push(row);
    row.line = make('li', {}, input.element, button('Remove', '', {
      'aria-label': 'Remove item ' + rows.length + ' of ' + label,
    }, () => { rows.splice(rows.indexOf(row), 1); row.line.remove(); }));
    list.append(row.line);
    return input;
  };
  for (const value of values || []) add(value);
  const more = button('Add item', '', {'aria-label': 'Add item to ' + label}, () => {
    const {element} = add();
    (element.matches('input, textarea') ? element : element.querySelector('input')).focus();
  });
  return {
    element: make('div', {class: 'stack'}, list, more),
    read: async upload => Promise.all(rows.map(({input}) => input.read(upload))),
    mark: () => rows.map(({input}) => input.mark()),
  };
}

// The form of one field; `mark` tells whether it was changed.
function fieldForm({name, type, value, isEncrypted, isNew, recordType}) {
  const input = type.endsWith('_LIST') ? listInput(value, type, name)
    : valueInput(value, type, name);
  const first = JSON.stringify(input.mark());
  const form = {name, type, isEncrypted, isNew, input, isGone: false};
  form.read = async upload => {
    const read = await input.read(upload);
    if (isNew && Array.isArray(read) && !read.length && !isInSchema(recordType(), name)) {
      throw new Refused(400, name + ': add an item, or remove the field; the first item of a new '
        + 'list decides its type.');
    }
    return read;
  };
  form.changed = () => isNew || form.isGone || JSON.stringify(input.mark()) !== first;
  const remove = button('Remove', '', {'aria-label': 'Remove field ' + name}, () => {
    form.isGone = !form.isGone;
    form.element.classList.toggle('gone', form.isGone);
    remove.textContent = form.isGone ? 'Keep' : 'Remove';
  });
  form.element = make('div', {class: 'edited'},
    make('div', {class: 'label'}, nameOf(name),
      span('kind', typeWords(type) + (isEncrypted ? ', encrypted' : ''))),
    input.element, remove);
  return form;
}

function isInSchema(recordType, field) {
  const known = state.schema.recordTypes.find(one => one.recordType === recordType);
  return Boolean(known && known.fields.some(one => one.name === field && one.kind));
}

function newFieldRow(add) {
  const wrong = make('p', {role: 'alert'});
  const name = make('input', {'aria-label': 'New field', placeholder: 'new field',
    autocomplete: 'off', spellcheck: 'false'});
  const type = make('select', {'aria-label': 'Type of the new field'},
    ...fieldTypes.map(([value, words]) => make('option', {value}, words)),
    ...fieldTypes.map(([value, words]) => make('option', {value: value + '_LIST'},
      'list: ' + words)));
  const encrypted = make('input', {type: 'checkbox'});
  const go = () => {
    const field = name.value.trim();
    wrong.textContent = '';
    if (!field) { name.focus(); return; }
    if (!fieldNameForm.test(field)) {
      wrong.replaceChildren('A field can’t be called “', nameOf(field), '”: a name has 1 to 255 '
        + 'ASCII letters, digits or underscores, a letter first.');
      name.focus();
      return;
    }
    if (!add({name: field, type: type.value, isEncrypted: encrypted.checked})) {
      wrong.replaceChildren('There is a field “', nameOf(field), '” already.');
      name.focus();
      return;
    }
    name.value = '';
    encrypted.checked = false;
  };
  name.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); go(); }
  });
  return make('div', {}, make('div', {class: 'row'}, name, type,
    make('label', {class: 'check'}, encrypted, 'encrypted'),
    button('Add field', '', {}, go)), wrong);
}

// Uploads a file for a field, and returns the value of the field.
async function uploadFile(place, record, fieldName, file) {
  const {tokens} = await serve(place, 'assets/upload',
    {tokens: [{recordName: record.recordName, recordType: record.recordType, fieldName}]});
  // Another name of this server would be another site.
  const {pathname, search} = new URL(tokens[0].url);
  const answer = await fetch(pathname + search,
    {method: 'POST', body: file, credentials: 'omit'});
  const json = await answer.json();
  if (!answer.ok) throw refusal(json, answer.status);
  return json.singleFile;
}

// Sends one operation on a record, and returns the record of the answer.
async function modify(place, operationType, record) {
  const zoneID = zoneOf(place);
  const answer = await serve(place, 'records/modify',
    {zoneID, operations: [{operationType, record}]});
  const [result] = answer.records;
  if (result.serverErrorCode) throw refusal(result, 400);
  return result;
}

// The forms of all fields of a record; `recordType` returns its type.
class FieldForms {
  constructor(recordType) {
    Object.assign(this, {recordType, forms: [], element: make('div', {})});
  }

  // Adds the form of a field; returns whether there was none.
  add(field, focus) {
    if (this.forms.some(form => form.name === field.name)) return false;
    const form = fieldForm({...field, recordType: this.recordType});
    this.forms.push(form);
    this.element.append(form.element);
    const first = form.element.querySelector('input, textarea, button');
    if (focus && first) first.focus();
    return true;
  }

  get isChanged() { return this.forms.some(form => form.changed()); }

  // The changed fields, for a save.
  async changes(upload) {
    const changed = {};
    for (const one of this.forms.filter(one => one.changed() && !(one.isGone && one.isNew))) {
      const value = one.isGone ? null : await one.read(file => upload(one.name, file));
      changed[one.name] = {value, type: one.type, isEncrypted: one.isEncrypted || undefined};
    }
    return changed;
  }

  // Shows where the server differs from what was read before the edit: in place of what was not
  // edited, and beside what was.
  showServer(before, now) {
    const text = field => field ? field.type + ' ' + plain(field.value, field.type) : '';
    const names = new Set([...Object.keys(before), ...Object.keys(now),
      ...this.forms.map(({name}) => name)]);
    for (const name of names) {
      const form = this.forms.find(one => one.name === name);
      const field = now[name];
      if (form) for (const old of form.element.querySelectorAll('.server')) old.remove();
      if (text(before[name]) === text(field) || !(form || field)) continue;
      if (!form) this.add({name, ...field});
      else if (!form.changed()) this.take(form, field);
      else {
        form.element.append(make('div', {class: 'server'}, 'on the server now: ',
          make('bdi', {}, field ? cut(plain(field.value, field.type), 300) : 'no value'), ' ',
          button('Take this value', '', {'aria-label': 'Take the server’s value of ' + name},
            () => this.take(form, field))));
      }
    }
  }

  // Replaces an edit by the server's value.
  take(form, field) {
    const index = this.forms.indexOf(form);
    if (!field) {
      this.forms.splice(index, 1);
      form.element.remove();
      return;
    }
    const fresh = fieldForm({name: form.name, ...field, recordType: this.recordType});
    this.forms[index] = fresh;
    form.element.replaceWith(fresh.element);
  }
}

function recordForm(place, record, types, done) {
  let known = record;
  const fields = new FieldForms(() => record ? record.recordType : type.value);
  for (const [name, field] of Object.entries(record ? record.fields : {})) {
    fields.add({name, ...field});
  }
  const type = make('input', {'aria-label': 'Record type', required: true, list: 'types',
    autocomplete: 'off', spellcheck: 'false'});
  const name = make('input', {'aria-label': 'Record name', autocomplete: 'off',
    spellcheck: 'false', placeholder: 'made by the server'});
  const wrong = make('p', {role: 'alert'});
  const save = make('button', {class: 'strong'}, record ? 'Save' : 'Create');
  const head = record ? null : make('div', {},
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record type'), type),
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record name'), name),
    make('datalist', {id: 'types'}, ...types.map(value => make('option', {value}))));
  const form = make('form', {class: 'card', 'aria-label': record ? 'Edit record' : 'New record'},
    head, fields.element, newFieldRow(field => fields.add({...field, isNew: true}, true)), wrong,
    make('div', {class: 'row'}, save, button('Cancel', '', {}, async () => {
      if (await mayClose()) done(null);
    }), make('span', {class: 'dim'}, 'as ', nameOf(actor(place) || 'nobody'))));
  form.isEdited = () => fields.isChanged || Boolean(!record && (type.value || name.value));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    wrong.textContent = '';
    save.disabled = true;
    const saved = known || {recordName: name.value || undefined, recordType: type.value};
    try {
      const changed = await fields.changes((field, file) => uploadFile(place, saved, field, file));
      const {recordName, recordType, recordChangeTag} = saved;
      done(await modify(place, record ? 'update' : 'create',
        {recordName, recordType, recordChangeTag, fields: changed}));
    } catch (error) {
      wrong.textContent = error.message;
      if (!known || error.code !== 'CONFLICT') return;
      const now = await currentRecord(place, known.recordName).catch(() => null);
      if (!now) return;
      fields.showServer(record.fields, now.fields);
      known = now;
      wrong.textContent = 'Another device changed the record meanwhile (CONFLICT). Your edit is '
        + 'kept, and the server’s values are beside it. Save again to write your edit onto them.';
    } finally {
      save.disabled = false;
    }
  });
  return form;
}
