import type { DispatchAnswer, DispatchRequest } from '../../../shared/provider.ts'
import type { HttpAnswer, HttpCall } from '../http-call.ts'
import { invalidAnswer } from '../invalid-answer.ts'
import { measured } from '../measured.ts'
import { reasonIn } from '../reason-in.ts'
import { addressOf, type Remote } from '../remote.ts'
import { failureOf, refusedFault, statusFault } from '../status-fault.ts'
import { readCompletion } from './read-completion.ts'
import type { createBodies } from './request-body.ts'

/** Where and how one server of the protocol is asked. */
export interface Dialect {
  readonly remote: Remote
  readonly path: string
  readonly bodies: ReturnType<typeof createBodies>
}

/** One chat completion; what a server refuses of the form is given up, and it is asked again, within the same dispatch. */
export async function askCompletions(
  { remote, path, bodies }: Dialect,
  call: HttpCall,
  request: DispatchRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<DispatchAnswer> {
  refuseReserved(remote, request)
  const post = (step: number) => call.post(addressOf(remote, path), bodies.make(request), step, headers)
  const answer = await accepted(remote, post, (told) => bodies.giveUp(request, told))
  const { text, refusal, finish_reason, model = request.model, id, usage } = await readCompletion(remote, answer)
  if (refusal !== undefined) throw refusedFault(remote, refusal)
  const used = measured(request, text, usage, remote.price(request.model, model))
  return { text, ...used, model, finish_reason: finish_reason ?? 'unknown', ...(id === undefined ? {} : { id }) }
}

/** The first answer that is no complaint about a feature. Each refusal gives one feature up, so this ends. */
async function accepted(
  remote: Remote,
  post: (step: number) => Promise<HttpAnswer>,
  giveUp: (told: string) => boolean,
): Promise<HttpAnswer> {
  for (let step = 0; ; step += 1) {
    const answer = await post(step)
    if (answer.status >= 200 && answer.status < 300) return answer
    if (answer.status !== 400 && answer.status !== 422) throw await statusFault(remote, answer)
    const told = reasonIn(await answer.body.start())
    if (!giveUp(told ?? '')) throw failureOf(remote, { status: answer.status, told })
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
