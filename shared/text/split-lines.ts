/**
 * The lines of a text that comes in pieces, without their ends (\n or \r\n); the last one need not have an end. Only
 * \n ends a line: readline also breaks at U+2028, which stands in JSON texts as it is.
 */
export async function* splitLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  // Kept as pieces: a line of 100 MB is put together once.
  let open: string[] = []
  for await (const piece of pieces) {
    const [first = '', ...rest] = piece.split('\n')
    open.push(first)
    for (const next of rest) {
      yield withoutReturn(open.join(''))
      open = [next]
    }
  }
  const last = open.join('')
  if (last !== '') yield withoutReturn(last)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
