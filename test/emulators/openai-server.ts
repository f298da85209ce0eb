import { type Asked, type Behaviour, json, type ProviderServer, pieces, serveProvider } from './provider-server.ts'

/** A chat completions API whose model is a function: what it is asked, and what it says to that. */
export function startOpenai(reply: (asked: Asked) => string, key?: string): Promise<ProviderServer> {
  return serveProvider((response, asked) => completes(reply(asked))(response, asked), key)
}

/** An answer as the request asks for it: whole, or as a stream in pieces of a few bytes. */
export function completes(text: string, more: Readonly<Record<string, unknown>> = {}): Behaviour {
  return (response, asked) => {
    const { model, stream } = asked.body
    const how =
      stream === true
        ? pieces('text/event-stream', streamOf(text, String(model)))
        : json(200, completion(text, { model, ...more }))
    return how(response, asked)
  }
}

const USAGE = { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 }

/** A completion in one piece; `more` replaces or adds members, of which nobody knows `service_tier`. */
export function completion(text: string | null, more: Readonly<Record<string, unknown>> = {}) {
  const message = { role: 'assistant', content: text, refusal: null, annotations: [] }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    choices,
    usage: USAGE,
    service_tier: 'default',
    ...more,
  }
}

/** The events of a stream, one character of the text each. */
export function streamOf(text: string, model = 'm', end = '\n\n'): string {
  const chunk = (choices: unknown, more = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, choices, ...more })}${end}`
  const delta = (content: string) => chunk([{ index: 0, delta: { content }, finish_reason: null }])
  return [
    `: a comment${end}`,
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    ...[...text].map(delta),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage: USAGE }),
    `data: [DONE]${end}`,
  ].join('')
}
