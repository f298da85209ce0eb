import type { Provider } from '../../shared/provider.ts'
import { embedOverHttp } from './embed-over-http.ts'
import { overHttp } from './http-call.ts'
import { askCompletions } from './openai/ask-completions.ts'
import { EMBEDDINGS } from './openai/embeddings.ts'
import { createBodies } from './openai/request-body.ts'
import type { Remote } from './remote.ts'

/**
 * Chat completions as OpenAI defined them, which vLLM, LM Studio, llama.cpp and most gateways speak too. The answer is
 * read as a stream where the server sends one. A server that does not know a schema, JSON mode or usage in streams
 * refuses once with 400 or 422; the request is sent again without it, within the same attempt, and the server's ways are remembered.
 */
export function openaiCompatible(remote: Remote): Provider {
  const dialect = { remote, path: '/chat/completions', bodies: createBodies() }
  return {
    ...overHttp(remote, (call, request) => askCompletions(dialect, call, request)),
    embed: (request) => embedOverHttp(remote, request, EMBEDDINGS),
  }
}
