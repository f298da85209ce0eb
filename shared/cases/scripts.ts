import { Fault } from '../errors.ts'
import type { DispatchAnswer, DispatchRequest } from '../providers/provider.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { quoted } from '../text/wording.ts'
import type { ScriptedAnswer, ScriptLine, StepLine, ToolScript } from './case-file.ts'

/**
 * A script says what it was told to say; it is no model, decides nothing and is called a script wherever its words are
 * kept. All it may know is what a model is shown: no run, no block, no inputs, and nothing that was asked before.
 */
export interface Seen {
  readonly model: string
  readonly system: string
  /** The first message of the user. */
  readonly prompt: string
  /** What followed it. */
  readonly messages: readonly SeenMessage[]
  /** Messages of its own so far: 0 = it is asked for the first time. */
  readonly turn: number
  /** Names of the tools it may call. */
  readonly tools: readonly string[]
  /** Names of the files it is shown. */
  readonly files: readonly string[]
  /** What came of the calls of its last message. */
  readonly results: readonly SeenResult[]
}

interface SeenMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
}

interface SeenResult {
  readonly tool: string
  readonly text: string
  readonly is_error: boolean
}

/** A script in TypeScript: a text, an answer, or what it says to what it is shown. */
export type Script = string | ScriptedAnswer | readonly ScriptLine[] | ((seen: Seen) => string | ScriptedAnswer)

/** Of a request what a model is shown of it. */
export function seenBy({
  model,
  system = '',
  prompt,
  conversation = [],
  tools = [],
  files = [],
}: DispatchRequest): Seen {
  const last = conversation.findLastIndex(({ role }) => role === 'assistant')
  return {
    model,
    system,
    prompt,
    messages: conversation.map(({ role, text }) => ({ role, text })),
    turn: conversation.filter(({ role }) => role === 'assistant').length,
    tools: tools.map(({ name }) => name),
    files: files.map(({ name }) => name),
    results: conversation.slice(last + 1).flatMap((message) => (message.role === 'tool' ? [toldResult(message)] : [])),
  }
}

function toldResult({ tool, text, is_error }: SeenResult): SeenResult {
  return { tool, text, is_error }
}

/** What it says next; undefined: nothing of it fits what it is shown. */
export function scriptedAnswer(script: Script, seen: Seen): ScriptedAnswer | undefined {
  if (typeof script === 'string') return { say: script }
  if (typeof script === 'function') {
    const said = script(seen)
    return typeof said === 'string' ? { say: said } : said
  }
  const lines: readonly ScriptLine[] = 'length' in script ? script : [script]
  const line = lines.find(({ when }) => when === undefined || fits(when, seen))
  if (line?.turns === undefined) return line
  return line.turns[Math.min(seen.turn, line.turns.length - 1)]
}

/** As withFeedback of shared/prompts/block.ts tells a model. */
const REFUSED = 'The previous answer was refused:'

function fits(when: NonNullable<ScriptLine['when']>, seen: Seen): boolean {
  const { prompt, system, said, model, tool, refused } = when
  const isTold = [seen.prompt, ...seen.messages.map(({ text }) => text)].some((text) => text.includes(REFUSED))
  return [
    prompt === undefined || seen.prompt.includes(prompt),
    system === undefined || seen.system.includes(system),
    said === undefined || seen.messages.some(({ text }) => text.includes(said)),
    model === undefined || seen.model === model,
    tool === undefined || seen.tools.includes(tool),
    refused === undefined || refused === isTold,
  ].every((holds) => holds)
}

/** The answer as a provider gives it, or the Fault it fails with. */
export function providerAnswer(name: string, said: ScriptedAnswer, seen: Seen): DispatchAnswer {
  if (said.fail !== undefined) throw failure(name, said.fail)
  const text = said.say === undefined ? '' : typeof said.say === 'string' ? said.say : canonicalJson(said.say)
  const calls = (said.calls ?? []).map(({ tool, arguments: args = {} }, at) => ({
    id: `call_${seen.turn}_${at}`,
    tool,
    arguments: typeof args === 'string' ? args : canonicalJson(args),
  }))
  const shown = [seen.system, seen.prompt, ...seen.messages.map((message) => message.text)].join('')
  return {
    text,
    tokens_in: said.tokens_in ?? tokens(shown),
    tokens_out: said.tokens_out ?? tokens(text + calls.map((call) => call.arguments).join('')),
    usd: said.usd ?? 0,
    model: seen.model,
    finish_reason: said.finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    note: `said by a script for ${quoted(name)}, by no model`,
    ...(calls.length === 0 ? {} : { calls }),
  }
}

/** Four characters a token, as nobody's tokenizer counts. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}

function failure(name: string, how: NonNullable<ScriptedAnswer['fail']>): Fault {
  const facts = { provider: name }
  const said = `The script of provider "${name}" says that it`
  switch (how) {
    case 'unavailable':
      return new Fault('Unavailable', 'provider_unavailable', `${said} cannot be reached.`, { facts })
    case 'throttled':
      return new Fault('Unavailable', 'provider_throttled', `${said} is asked too often.`, { facts })
    case 'timeout':
      return new Fault('Unavailable', 'provider_timeout', `${said} does not answer in time.`, { facts })
    case 'refused':
      return new Fault('Rejected', 'provider_refused', `${said} refuses to answer.`, { facts })
  }
}

/** What was asked and nothing of a script fits. */
export function noAnswer(name: string, seen: Seen): Fault {
  const shown = quoted(seen.prompt.trim().slice(0, 300))
  const message = `No script answers provider "${name}" (model "${seen.model}", turn ${seen.turn}): it is shown ${shown}. Add a line to models.${name} of the case.`
  return new Fault('Rejected', 'provider_refused', message, { facts: { provider: name } })
}

/** What a step is given and a script of it may look at. */
export interface StepSeen {
  readonly inputs: Readonly<Record<string, Json>>
  readonly config: Json
  readonly attempt: number
}

/** The first line that fits. */
export function scriptedStep(lines: readonly StepLine[], seen: StepSeen): StepLine | undefined {
  return lines.find(
    ({ when }) =>
      when === undefined ||
      (within(when.inputs ?? {}, seen.inputs) && (when.attempt === undefined || when.attempt === seen.attempt)),
  )
}

/** The first answer whose arguments are among those it is called with. */
export function scriptedTool({ answers }: ToolScript, args: Readonly<Record<string, Json>>) {
  return answers.find(({ when }) => when === undefined || within(when, args))
}

function within(wanted: Readonly<Record<string, Json>>, given: Readonly<Record<string, Json>>): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const seen = given[key]
    return seen !== undefined && canonicalJson(seen) === canonicalJson(value)
  })
}
