import type { RunEvent } from '../../shared/runs/event.ts'

export interface SseMessage {
  readonly id: number
  readonly event: string
  readonly data: RunEvent
}

/** One message as it came: `block:delta` has no id. */
interface Message {
  readonly event: string
  readonly id: string | undefined
  readonly data: string
}

/** Messages of Server-Sent Events as they come. */
export async function* readMessages(url: string, init: RequestInit = {}): AsyncGenerator<Message> {
  const response = await fetch(url, init)
  if (response.body === null) throw new Error(`no stream: ${response.status}`)
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n')
    text = parts.pop() ?? ''
    yield* parts.flatMap(messageOf)
  }
}

function messageOf(part: string): readonly Message[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
  const [id, event, data] = [field('id'), field('event'), field('data')]
  return event === undefined || data === undefined ? [] : [{ event, id, data }]
}

/** Reads events until the server ends the stream, `enough` says so, or `signal` aborts. */
export async function readEvents(
  url: string,
  init: RequestInit = {},
  enough: (messages: readonly SseMessage[]) => boolean = () => false,
): Promise<SseMessage[]> {
  const messages: SseMessage[] = []
  for await (const { id, event, data } of readMessages(url, init)) {
    if (id !== undefined) messages.push({ id: Number(id), event, data: JSON.parse(data) as RunEvent })
    if (enough(messages)) return messages
  }
  return messages
}
