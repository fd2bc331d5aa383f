// File inputs: what one takes and what it holds. Files are given by the browser, never from here.

const fileName = getter(File.prototype, 'name');
const fileSize = getter(Blob.prototype, 'size');
const fileCount = getter(FileList.prototype, 'length');
const fileItem = method(FileList.prototype, 'item');
const inputMultiple = getter(HTMLInputElement.prototype, 'multiple');
const inputAccept = getter(HTMLInputElement.prototype, 'accept');
const inputDirectory = getter(HTMLInputElement.prototype, 'webkitdirectory');

// The input itself, or the one that a label belongs to.
function fileInputOf(el) {
  const input = tagOf(el) === 'label' ? G.control(el) : el;
  return input && tagOf(input) === 'input' && G.type(input) === 'file' ? input : null;
}

function describeFileInput(input) {
  if (!input) return { isFile: false };
  return {
    isFile: true,
    enabled: isEnabled(input),
    multiple: inputMultiple(input),
    directory: inputDirectory(input) === true,
    accept: inputAccept(input).slice(0, 1024),
  };
}

function fileInput(args, handles) {
  return describeFileInput(fileInputOf(handles.length > 0 ? handles[0] : required(args).el));
}

// What it holds now, at most 64 of them.
function filesHeld(args, handles) {
  const input = fileInputOf(handles.length > 0 ? handles[0] : required(args).el);
  if (!input) return { held: null };
  const files = G.files(input);
  const held = [];
  for (let n = 0; files && n < fileCount(files) && n < 64; n += 1) {
    const file = fileItem(files, n);
    held.push({ name: fileName(file).toWellFormed().slice(0, 255), size: fileSize(file) });
  }
  return { held };
}
