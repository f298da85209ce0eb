import { Fault } from '../../../shared/errors.ts'
import { readObject } from '../invalid-answer.ts'
import { memberOf, textOf } from '../member-of.ts'
import { type Completion, completionOf, type Gathered } from './completion.ts'
import { contentOf, hasTools, usageOf } from './message-parts.ts'
import { throwTold } from './told-error.ts'

/**
 * A completion sent as Server-Sent Events: `data:` lines of JSON, at the end `[DONE]`. A stream that ends without that
 * and without a finish reason was cut: Fault Unavailable provider_unavailable.
 */
export async function readStream(remote: { readonly name: string }, lines: AsyncIterable<string>): Promise<Completion> {
  const gathered = nothingYet()
  const texts: string[] = []
  let done = false
  for await (const data of dataOf(lines)) {
    if (data === '[DONE]') {
      done = true
      break
    }
    const chunk = readObject(remote.name, data)
    throwTold(remote, chunk)
    texts.push(add(gathered, chunk))
  }
  if (!done && gathered.finish_reason === undefined) throw cut(remote.name)
  return completionOf(remote, { ...gathered, text: texts.join('') })
}

function nothingYet(): Gathered {
  const counted = { finish_reason: undefined, model: undefined, id: undefined, usage: {} }
  return { answered: false, text: '', refusal: '', tools: false, ...counted }
}

/** Takes a chunk in and answers its text. Only the first choice counts: one was asked for. */
function add(gathered: Gathered, chunk: unknown): string {
  const usage = memberOf(chunk, 'usage')
  if (usage !== undefined && usage !== null) gathered.usage = usageOf(usage)
  gathered.model = textOf(memberOf(chunk, 'model')) ?? gathered.model
  gathered.id ??= textOf(memberOf(chunk, 'id'))
  const choices = memberOf(chunk, 'choices')
  const choice = Array.isArray(choices) ? choices.find((each) => (memberOf(each, 'index') ?? 0) === 0) : undefined
  const delta = memberOf(choice, 'delta')
  gathered.answered ||= choice !== undefined
  gathered.finish_reason = textOf(memberOf(choice, 'finish_reason')) ?? gathered.finish_reason
  gathered.refusal += textOf(memberOf(delta, 'refusal')) ?? ''
  gathered.tools ||= hasTools(delta)
  return contentOf(memberOf(delta, 'content'))
}

/**
 * The data of each event; lines of one event are joined, comments and other fields are left out. What has no blank line
 * after it is half an event and dropped, but for the end mark.
 */
async function* dataOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of lines) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
    } else if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
    }
  }
  if (data.join('\n') === '[DONE]') yield '[DONE]'
}

function cut(provider: string): Fault {
  const message = `Provider "${provider}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider } })
}
