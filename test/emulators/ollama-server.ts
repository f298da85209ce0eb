import { type Asked, type Behaviour, type ProviderServer, pieces, serveProvider } from './provider-server.ts'

/** Ollama's /api/chat whose model is a function. */
export function startOllama(reply: (asked: Asked) => string, key?: string): Promise<ProviderServer> {
  return serveProvider((response, asked) => chats(reply(asked), { model: asked.body.model })(response, asked), key)
}

/** The lines of an answer in pieces of a few bytes. */
export function chats(text: string, last: Readonly<Record<string, unknown>> = {}): Behaviour {
  return pieces('application/x-ndjson', chatLines(text, last))
}

/** A line a character, then the one that counts; `last` replaces or adds members of that. */
export function chatLines(text: string, last: Readonly<Record<string, unknown>> = {}): string {
  const line = (value: unknown) => `${JSON.stringify(value)}\n`
  const said = [...text].map((content) =>
    line({ model: 'm', created_at: 'now', message: { role: 'assistant', content }, done: false }),
  )
  const message = { role: 'assistant', content: '' }
  const counts = { done_reason: 'stop', total_duration: 5, prompt_eval_count: 21, eval_count: 9 }
  return [...said, line({ model: 'm', message, done: true, ...counts, ...last })].join('')
}
