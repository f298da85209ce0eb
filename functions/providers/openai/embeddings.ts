import type { EmbedDialect } from '../embed-over-http.ts'
import { memberOf } from '../member-of.ts'
import { throwTold } from './told-error.ts'

/** /v1/embeddings as OpenAI defined it: each vector says the place of its text. */
export const EMBEDDINGS: EmbedDialect = {
  path: '/embeddings',
  body: (model, input) => ({ model, input, encoding_format: 'float' }),
  vectors(told, remote) {
    throwTold(remote, told)
    return inOrder(told.data)
  },
  tokens: ({ usage }) => memberOf(usage, 'prompt_tokens') ?? memberOf(usage, 'total_tokens'),
}

/** By `index`; a server that gives none answers in the order of the texts. */
function inOrder(data: unknown): unknown {
  if (!Array.isArray(data)) return undefined
  const placed: unknown[] = []
  for (const [at, one] of data.entries()) {
    const index = memberOf(one, 'index') ?? at
    // Twice the same place, or one that is none: the vectors are not counted as they should be then.
    if (typeof index !== 'number' || !(index < data.length) || placed[index] !== undefined) return undefined
    placed[index] = memberOf(one, 'embedding')
  }
  return placed
}
