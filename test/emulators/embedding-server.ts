import { type Asked, type Behaviour, json, serveProvider } from './provider-server.ts'

/** Texts of a request for vectors, in either protocol. */
export function textsOf({ body }: Asked): readonly string[] {
  return Array.isArray(body.input) ? body.input : [String(body.input)]
}

/** Answers a request for vectors in the protocol of its path: OpenAI's `/embeddings`, or Ollama's `/api/embed`. */
export function embeds(vectors: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): Behaviour {
  return (response, asked) => {
    const tokens = vectors.length * 5
    const whole = asked.path.endsWith('/api/embed')
      ? { model: asked.body.model, embeddings: vectors, prompt_eval_count: tokens, ...more }
      : {
          object: 'list',
          model: asked.body.model,
          data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
          usage: { prompt_tokens: tokens, total_tokens: tokens },
          ...more,
        }
    return json(200, whole)(response, asked)
  }
}

/** A server whose model is a function of one text. */
export function startEmbedder(vectorOf: (text: string) => readonly number[], key?: string) {
  return serveProvider((response, asked) => embeds(textsOf(asked).map(vectorOf))(response, asked), key)
}
