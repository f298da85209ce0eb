import type { Provider } from '../../shared/providers/provider.ts'
import { type EmbedDialect, embedOverHttp } from './embeddings.ts'
import { throwErrorInAnswer } from './faults.ts'
import { memberOf } from './model-answers.ts'
import type { Remote } from './remote.ts'

/** Vectors of a server that speaks OpenAI's protocol. */
export function embedCompletions(remote: Remote): NonNullable<Provider['embed']> {
  return (request) => embedOverHttp(remote, request, EMBEDDINGS)
}

/** /v1/embeddings as OpenAI defined it: each vector says the place of its text. */
const EMBEDDINGS: EmbedDialect = {
  path: '/embeddings',
  body: (model, input) => ({ model, input, encoding_format: 'float' }),
  vectors(told, remote) {
    throwErrorInAnswer(remote, told)
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
