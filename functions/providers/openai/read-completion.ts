import type { HttpAnswer } from '../http-call.ts'
import { readObject } from '../invalid-answer.ts'
import { memberOf, textOf } from '../member-of.ts'
import { type Completion, completionOf } from './completion.ts'
import { contentOf, hasTools, usageOf } from './message-parts.ts'
import { readStream } from './read-stream.ts'
import { throwTold } from './told-error.ts'

/** A completion in one piece or as events. Fault InvalidInput provider_invalid, or what the server tells inside it. */
export async function readCompletion(remote: { readonly name: string }, answer: HttpAnswer): Promise<Completion> {
  const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream')
  return isStream ? readStream(remote, answer.body.lines()) : readWhole(remote, await answer.body.text())
}

function readWhole(remote: { readonly name: string }, body: string): Completion {
  const whole = readObject(remote.name, body)
  throwTold(remote, whole)
  const choice = memberOf(memberOf(whole, 'choices'), 0)
  const message = memberOf(choice, 'message')
  return completionOf(remote, {
    answered: choice !== undefined,
    text: contentOf(memberOf(message, 'content')),
    refusal: textOf(memberOf(message, 'refusal')) ?? '',
    tools: hasTools(message),
    finish_reason: textOf(memberOf(choice, 'finish_reason')),
    model: textOf(memberOf(whole, 'model')),
    id: textOf(memberOf(whole, 'id')),
    usage: usageOf(memberOf(whole, 'usage')),
  })
}
