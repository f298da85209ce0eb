import type { Provider } from '../../shared/providers/provider.ts'
import { askCompletions, createRequestBodies, throwErrorInAnswer } from './completions.ts'
import { type EmbedDialect, embedOverHttp } from './embeddings.ts'
import { memberOf } from './model-answers.ts'
import { providerOverHttp, type Remote } from './remote.ts'

/**
 * Chat completions as OpenAI defined them, which vLLM, LM Studio, llama.cpp and most gateways speak too. The answer is
 * read as a stream where the server sends one. A server that does not know a schema, JSON mode or usage in streams
 * refuses once with 400 or 422; the request is sent again without it, within the same attempt, and the server's ways are remembered.
 */
export function openaiCompatible(remote: Remote): Provider {
  const dialect = { remote, path: '/chat/completions', bodies: createRequestBodies() }
  return {
    ...providerOverHttp(remote, (call, request) => askCompletions(dialect, call, request)),
    embed: (request) => embedOverHttp(remote, request, EMBEDDINGS),
  }
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
