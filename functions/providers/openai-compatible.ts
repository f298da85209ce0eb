import { Fault } from '../../shared/errors.ts'
import type { DispatchRequest, Provider } from '../../shared/provider.ts'
import { type HttpAnswer, type HttpCall, overHttp } from './http-call.ts'
import { invalidAnswer } from './invalid-answer.ts'
import { measured } from './measured.ts'
import { readCompletion } from './openai/read-completion.ts'
import { createBodies } from './openai/request-body.ts'
import { reasonIn } from './reason-in.ts'
import { addressOf, type Remote } from './remote.ts'
import { failureOf, statusFault } from './status-fault.ts'

/**
 * Chat completions as OpenAI defined them, which vLLM, LM Studio, llama.cpp and most gateways speak too. The answer is
 * read as a stream where the server sends one. A server that does not know a schema, JSON mode or usage in streams
 * refuses once with 400 or 422; the request is sent again without it, within the same attempt, and the server's ways are remembered.
 */
export function openaiCompatible(remote: Remote): Provider {
  const bodies = createBodies()
  return overHttp(remote, async (call, request) => {
    refuseReserved(remote, request)
    const answer = await accepted(remote, call, request, bodies)
    const { text, refusal, finish_reason, model, usage } = await readCompletion(remote, answer)
    if (refusal !== undefined) throw refused(remote, refusal)
    const used = measured(request, text, usage, {
      type: 'openai-compatible',
      url: remote.url,
      model: model ?? request.model,
    })
    return { text, ...used, model: model ?? request.model, finish_reason: finish_reason ?? 'unknown' }
  })
}

/** The first answer that is no complaint about a feature. Each refusal gives one feature up, so this ends. */
async function accepted(
  remote: Remote,
  call: HttpCall,
  request: DispatchRequest,
  bodies: ReturnType<typeof createBodies>,
): Promise<HttpAnswer> {
  const address = addressOf(remote, '/chat/completions')
  for (let step = 0; ; step += 1) {
    const answer = await call.post(address, bodies.make(request), step)
    if (answer.status >= 200 && answer.status < 300) return answer
    if (answer.status !== 400 && answer.status !== 422) throw await statusFault(remote, answer)
    const told = reasonIn(await answer.body.start())
    if (!bodies.giveUp(request, told ?? '')) throw failureOf(remote, { status: answer.status, told })
  }
}

/** Members this adapter writes itself: a document that sets them would be answered in a form nobody reads. */
const RESERVED = ['model', 'messages', 'stream', 'stream_options', 'n', 'tools', 'functions']

function refuseReserved({ name }: Remote, { params }: DispatchRequest): void {
  const taken = RESERVED.filter((key) => Object.hasOwn(params, key))
  if (taken.length === 0) return
  const message = `Cannot ask provider "${name}": model_params has ${taken.join(', ')}, which the adapter writes itself. Remove ${taken.length === 1 ? 'it' : 'them'}.`
  throw invalidAnswer(name, message)
}

function refused({ name }: Remote, reason: string): Fault {
  const message = `Provider "${name}" refused to answer: ${JSON.stringify(reason.slice(0, 300).toWellFormed())}. Change the prompt or the model.`
  return new Fault('Rejected', 'provider_refused', message, { facts: { provider: name } })
}
