import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type * as z from 'zod'
import { TRIGGER_ROUTES } from '../../../shared/api/trigger-routes.ts'
import type { Json } from '../../../shared/text/json.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine, plainText } from '../terminal/text.ts'

/** `sluice triggers ..`: what starts runs of documents by itself. */
export function addTriggers(parent: Command, session: Session): void {
  const triggers = parent.command('triggers').description('what starts runs by itself (docs/triggers.md)')
  addTriggersList(triggers, session)
  addTriggersShow(triggers, session)
  addTriggersPause(triggers, session)
  addTriggersFire(triggers, session)
  addTriggersTry(triggers, session)
}

/** A newer server may say more. */
const ListSchema = TRIGGER_ROUTES['list-triggers'].answer.loose()
type Shown = z.output<typeof ListSchema>['triggers'][number]
type Firing = NonNullable<Shown['last']>

function addTriggersList(parent: Command, session: Session): void {
  withTargetOptions(
    parent.command('list').description('every trigger: what fires it, when next, and how it went last'),
  ).action((options: TargetOptions) => listTriggers(session, options))
}

async function listTriggers(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), ListSchema, (api) => api.GET('/api/triggers'))
  const { triggers, unsound } = answer
  if (triggers.some(({ failures }) => failures > 0)) process.exitCode = 1
  if (json === true) return session.say(jsonText(answer, 2))
  if (triggers.length === 0) session.say('No triggers: no deployed document has any.')
  for (const line of triggers.flatMap(triggerLines)) session.say(plainText(line))
  for (const name of unsound)
    session.warn(
      plainText(`${name}: something of its triggers is wrong, and does not start: sluice validate says what`),
    )
}

function triggerLines(shown: Shown): string[] {
  const { document, name, kind, says, paused, next } = shown
  const going = next === undefined ? [] : [`next ${next}`]
  const when = paused === undefined ? going : [pausedWords(paused)]
  return [[`${document}/${name}`, kind, oneLine(says), ...when].join('  '), `  ${standing(shown).join('; ')}`]
}

function standing({ url, last, failures, waiting, missed }: Shown): string[] {
  return [
    ...(url === undefined ? [] : [`POST ${url}`]),
    last === undefined ? 'never fired' : `last ${firingWords(last)}`,
    ...(failures === 0 ? [] : [`FAILED ${failures === 1 ? 'the last time' : `the last ${failures} times`}`]),
    ...(waiting === 0 ? [] : [`${count(waiting, 'firing')} owed a run`]),
    ...(missed === undefined ? [] : [missedWords(missed)]),
  ]
}

function missedWords({ count: times, more, last }: NonNullable<Shown['missed']>): string {
  return `missed ${times}${more === true ? ' and more' : ''}, last ${last}`
}

function pausedWords({ by, at, reason }: NonNullable<Shown['paused']>): string {
  return `paused by ${by} at ${at}${reason === undefined ? '' : `: ${oneLine(reason)}`}`
}

function firingWords({ at, state, run_id, by, reason, object }: Firing): string {
  const hand = by === undefined ? '' : ` by hand of ${by}`
  const run = run_id === undefined ? '' : ` ${run_id}`
  const why = reason === undefined ? '' : `: ${oneLine(reason.message)} [${reason.code}]`
  const of = object === undefined ? '' : ` ${oneLine(object.key)} (${object.bytes} bytes)`
  return `${at} ${state}${of}${run}${hand}${why}`
}

const NAMED = 'DOCUMENT/TRIGGER, as `triggers list` shows it'

function pathOf(named: string): { readonly document: string; readonly trigger: string } {
  const at = named.lastIndexOf('/')
  if (at > 0 && at < named.length - 1) return { document: named.slice(0, at), trigger: named.slice(at + 1) }
  throw usageError(`Cannot find trigger "${named}": name it DOCUMENT/TRIGGER, as \`triggers list\` shows it.`)
}

function addTriggersShow(parent: Command, session: Session): void {
  withTargetOptions(parent.command('show').description('one trigger: its next times and its newest firings'))
    .argument('<trigger>', NAMED)
    .action(async (named: string, { url, json }: TargetOptions) => {
      const path = pathOf(named)
      const schema = TRIGGER_ROUTES['get-trigger'].answer.loose()
      const answer = await callApi(chooseTarget(session, url), schema, (api) =>
        api.GET('/api/triggers/{document}/{trigger}', { params: { path } }),
      )
      if (json === true) return session.say(jsonText(answer, 2))
      for (const line of triggerLines(answer.trigger)) session.say(plainText(line))
      if (answer.next_times.length > 0) session.say(`next: ${answer.next_times.join(', ')}`)
      for (const one of answer.firings) session.say(plainText(firingWords(one)))
    })
}

interface PauseOptions extends TargetOptions {
  readonly reason?: string
}

function addTriggersPause(parent: Command, session: Session): void {
  withTargetOptions(parent.command('pause').description('let a trigger start nothing by itself until it is resumed'))
    .argument('<trigger>', NAMED)
    .option('--reason <text>', 'shown with it')
    .action((named: string, options: PauseOptions) => change(session, named, true, options))
  withTargetOptions(
    parent.command('resume').description('let it go on; what would have fired it meanwhile is not made up for'),
  )
    .argument('<trigger>', NAMED)
    .action((named: string, options: PauseOptions) => change(session, named, false, options))
}

async function change(session: Session, named: string, paused: boolean, options: PauseOptions): Promise<void> {
  const { url, json, reason } = options
  const path = pathOf(named)
  const body = { paused, ...(reason === undefined ? {} : { reason }) }
  const answer = await callApi(chooseTarget(session, url), TRIGGER_ROUTES['change-trigger'].answer.loose(), (api) =>
    api.PATCH('/api/triggers/{document}/{trigger}', { params: { path }, body }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const { trigger, changed } = answer
  const words = paused ? 'is paused' : `goes on${trigger.next === undefined ? '' : `, next ${trigger.next}`}`
  session.say(plainText(`${named} ${words}${changed ? '' : ' (it was so already)'}.`))
}

interface FireOptions extends TargetOptions {
  readonly inputs?: string
  readonly body?: string
  readonly header?: readonly string[]
  readonly at?: string
}

const HEADER = 'a header of the message, as x-kind=order; repeatable'

function addTriggersFire(parent: Command, session: Session): void {
  withTargetOptions(parent.command('fire').description('fire a trigger by hand, also one that is paused: one run'))
    .argument('<trigger>', NAMED)
    .option('--inputs <json>', 'run inputs that go before those of the document, as JSON or @file')
    .option(
      '--body <json>',
      'the message of a webhook, the payload of an event, the outputs of a run or what is read of an object, as JSON or @file',
    )
    .option('--header <name=value>', HEADER, gather)
    .action((named: string, options: FireOptions) => fire(session, named, options))
}

async function fire(session: Session, named: string, options: FireOptions): Promise<void> {
  const { url, json } = options
  const path = pathOf(named)
  const inputs = options.inputs === undefined ? undefined : readJson('--inputs', options.inputs)
  if (inputs !== undefined && !isMapping(inputs)) throw usageError('Cannot use --inputs: it must be a JSON object.')
  const body = { ...(inputs === undefined ? {} : { inputs }), ...sampleOf(options) }
  const answer = await callApi(chooseTarget(session, url), TRIGGER_ROUTES['fire-trigger'].answer.loose(), (api) =>
    api.POST('/api/triggers/{document}/{trigger}/fire', {
      params: { path, header: { 'Idempotency-Key': randomUUID() } },
      body,
    }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const { run_id } = answer.firing
  session.say(plainText(`${named} is fired: its run is ${run_id}. \`run watch ${run_id}\` follows it.`))
}

function addTriggersTry(parent: Command, session: Session): void {
  withTargetOptions(
    parent.command('try').description('what a firing would start, with a sample of what comes; nothing is started'),
  )
    .argument('<trigger>', NAMED)
    .option(
      '--body <json>',
      'the message of a webhook, the payload of an event, the outputs of a run or what is read of an object, as JSON or @file',
    )
    .option('--header <name=value>', HEADER, gather)
    .option(
      '--at <time>',
      'the time of the firing, as 2026-12-24T06:00:00Z (default: now, of a schedule its next time)',
    )
    .action((named: string, options: FireOptions) =>
      attempt(session, chooseTarget(session, options.url), named, options),
    )
}

async function attempt(session: Session, target: Target, named: string, options: FireOptions): Promise<void> {
  const path = pathOf(named)
  const body = { ...sampleOf(options), ...(options.at === undefined ? {} : { at: options.at }) }
  const answer = await callApi(target, TRIGGER_ROUTES['try-trigger'].answer.loose(), (api) =>
    api.POST('/api/triggers/{document}/{trigger}/try', { params: { path }, body }),
  )
  const { ok, id, known, inputs, problems, next_times } = answer
  if (!ok) process.exitCode = 1
  if (options.json === true) return session.say(jsonText(answer, 2))
  if (id !== undefined)
    session.say(oneLine(`firing ${id}${known ? ' (there was one already: no run would start)' : ''}`))
  for (const [name, value] of Object.entries(inputs)) session.say(oneLine(`  ${name} = ${JSON.stringify(value)}`))
  for (const { code, message } of problems) session.say(plainText(`${message} [${code}]`))
  if (next_times.length > 0) session.say(`next: ${next_times.join(', ')}`)
  session.say(ok ? 'A run would start.' : 'No run would start.')
}

function sampleOf({ body, header = [] }: FireOptions) {
  const headers = Object.fromEntries(header.map(readHeader))
  return {
    ...(body === undefined ? {} : { body: readJson('--body', body) }),
    ...(header.length === 0 ? {} : { headers }),
  }
}

function gather(one: string, before: readonly string[] = []): readonly string[] {
  return [...before, one]
}

function readHeader(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw usageError(`Cannot read --header "${text}": write it NAME=VALUE, as x-kind=order.`)
}

function isMapping(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readJson(option: string, given: string): Json {
  const text = given.startsWith('@') ? readFile(given.slice(1), `${option} file`) : given
  try {
    return JSON.parse(text)
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause)
    throw usageError(
      `Cannot read ${option} as JSON: ${seen}. Quote it for the shell, or name a file: ${option} @sample.json.`,
    )
  }
}
