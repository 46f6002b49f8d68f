/** The bytes of the first file in a multipart form; the whole body where the form cannot be read. */
export function multipartFile(body: Buffer, contentType: string): Buffer {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return body;
  const mark = `--${boundary}`;
  let at = body.indexOf(mark);
  while (at !== -1) {
    const headEnd = body.indexOf('\r\n\r\n', at);
    const next = body.indexOf(`\r\n${mark}`, headEnd);
    if (headEnd === -1 || next === -1) return body;
    const head = body.subarray(at, headEnd).toString();
    if (/filename/i.test(head)) return body.subarray(headEnd + 4, next);
    at = next + 2;
  }
  return body;
}
