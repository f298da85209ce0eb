import type { RunEvent } from '../../shared/runs/event.ts'

export interface SseMessage {
  readonly id: number
  readonly event: string
  readonly data: RunEvent
}

/** Reads Server-Sent Events until the server ends the stream, `enough` says so, or `signal` aborts. */
export async function readEvents(
  url: string,
  init: RequestInit = {},
  enough: (messages: readonly SseMessage[]) => boolean = () => false,
): Promise<SseMessage[]> {
  const response = await fetch(url, init)
  if (response.body === null) throw new Error(`no stream: ${response.status}`)
  const messages: SseMessage[] = []
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    messages.push(...parts.flatMap(parseMessage))
    if (enough(messages)) return messages
  }
  return messages
}

function parseMessage(part: string): SseMessage[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
  const [id, event, data] = [field('id'), field('event'), field('data')]
  if (id === undefined || event === undefined || data === undefined) return []
  return [{ id: Number(id), event, data: JSON.parse(data) as RunEvent }]
}
