/** One message of a text/event-stream. */
export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/**
 * Splits a text/event-stream into messages (HTML standard, "Server-sent events"): comments are left out, `data` lines
 * are joined, an `id` without data is a message too (the server ends the stream and says where to go on), a message the stream ends in the middle of is dropped, so that a reader resumes at the last whole one.
 * Chunks may end anywhere, between \r and \n too.
 */
export async function* readServerSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let fields = new Map<string, string[]>()
  for await (const line of linesOf(chunks)) {
    if (line !== '') {
      addField(fields, line)
      continue
    }
    const message = messageOf(fields)
    fields = new Map()
    if (message !== undefined) yield message
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    rest += chunk
    // A trailing \r may be half of \r\n: it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function addField(fields: Map<string, string[]>, line: string): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
  fields.set(name, [...(fields.get(name) ?? []), value])
}

function messageOf(fields: ReadonlyMap<string, readonly string[]>): ServerSentEvent | undefined {
  const [data = [], ids] = [fields.get('data'), fields.get('id')]
  if (data.length === 0 && ids === undefined) return undefined
  return { id: ids?.at(-1) ?? '', event: fields.get('event')?.at(-1) ?? 'message', data: data.join('\n') }
}
