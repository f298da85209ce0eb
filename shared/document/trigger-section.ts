import { EVENT_NAME_RULE, isEventName } from '../runs/outside-event.ts'
import type { Problem } from '../text/document-problems.ts'
import { DURATION_RULE, durationWords, readDuration } from '../text/duration.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, listed, quoted } from '../text/wording.ts'
import { readYaml } from '../text/yaml.ts'
import { CRON_RULE, cronProblem, zoneProblem } from '../triggers/schedule.ts'
import {
  type Debounce,
  type EventTrigger,
  expressionOf,
  type Hmac,
  mapOf,
  type ObjectTrigger,
  type Rate,
  type RunTrigger,
  type Schedule,
  type ScheduleTrigger,
  TRIGGER_LIMITS,
  type Trigger,
  type Webhook,
  type WebhookTrigger,
} from '../triggers/trigger.ts'
import { checkProgram } from './programs.ts'
import { readList, readMapping, readSection, SECTIONS, type Reading as WholeReading } from './sections.ts'

type Reading = Pick<WholeReading, 'problems' | 'spent'>

const KINDS = ['schedule', 'webhook', 'event', 'run', 'object'] as const
type Kind = (typeof KINDS)[number]

/**
 * The triggers of a document, without judging the rest of it; `sound` is false where something of them is wrong. None of a
 * text that cannot be read.
 */
export function triggersOf(text: string): { readonly triggers: readonly Trigger[]; readonly sound: boolean } {
  const read = readYaml(text)
  if (!read.ok) return { triggers: [], sound: false }
  const { value } = read.source
  const given = typeof value === 'object' && value !== null && 'triggers' in value ? value.triggers : undefined
  const reading: Reading = { problems: [], spent: { compiled_parts: 0, program_characters: 0, schema_nodes: 0 } }
  const triggers = readTriggers(reading, given)
  return { triggers, sound: reading.problems.length === 0 }
}

/** What a document calls itself; undefined where it does not, or cannot be read. */
export function dagNameIn(text: string): string | undefined {
  const read = readYaml(text)
  const value = read.ok ? read.source.value : undefined
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** The section `triggers`: what starts runs of this document by itself (docs/triggers.md). */
export function readTriggers(reading: Reading, given: Json | undefined): readonly Trigger[] {
  if (given === undefined) return []
  const list = readList(reading, given, ['triggers']) ?? []
  if (list.length > TRIGGER_LIMITS.triggers) {
    const text = `the document has ${list.length} triggers; the limit is ${TRIGGER_LIMITS.triggers}`
    reading.problems.push({ code: 'limit_exceeded', path: ['triggers'], on: 'key', say: () => ({ text }) })
    return []
  }
  const found = list.flatMap((one, index) => readTrigger(reading, one, ['triggers', index]) ?? [])
  refuseDoubled(reading, list, found)
  return found
}

function refuseDoubled(reading: Reading, list: readonly Json[], found: readonly Trigger[]): void {
  const names = new Set(found.map(({ name }) => name))
  if (names.size === found.length) return
  const seen = new Set<unknown>()
  for (const [index, one] of list.entries()) {
    const name = typeof one === 'object' && one !== null && 'name' in one ? one.name : undefined
    if (typeof name === 'string' && seen.has(name)) {
      const text = `triggers[${index}] has the name ${quoted(name)}, which another trigger has already`
      const say: Problem['say'] = () => ({ text, hint: 'Give each trigger a name of its own.' })
      reading.problems.push({ code: 'duplicate_name', path: ['triggers', index, 'name'], say })
    }
    seen.add(name)
  }
}

function readTrigger(reading: Reading, given: Json, path: Path): Trigger | undefined {
  const section = readSection(reading, SECTIONS.trigger, given, path)
  if (section === undefined) return undefined
  const { name, priority } = section
  if (name === undefined && !hasKey(given, 'name')) missing(reading, path, 'name', 'Add name: nightly.')
  const kind = kindOf(reading, given, path)
  const inputs = readInputs(reading, section.inputs, [...path, 'inputs'])
  const own = kind === undefined ? undefined : READERS[kind](reading, section[kind] ?? null, [...path, kind])
  if (own === undefined || name === undefined) return undefined
  const first = priority === undefined ? {} : { priority }
  const trigger = { name, inputs, ...first, ...readPace(reading, own.kind, section, path), ...own }
  if (own.kind !== 'schedule') refuseTwice(reading, mapOf(trigger), inputs, [...path, own.kind, 'map'])
  return trigger
}

interface Pace {
  readonly debounce?: Json | undefined
  readonly rate?: Json | undefined
}

/** How many of its firings start runs. A cron expression says that itself. */
function readPace(reading: Reading, kind: Kind, given: Pace, path: Path): Pick<WebhookTrigger, 'debounce' | 'rate'> {
  if (kind === 'schedule') {
    for (const key of ['debounce', 'rate'] as const) {
      if (given[key] === undefined) continue
      const text = 'is for what comes from outside; a schedule has its times by its cron expression'
      refuse(reading, 'pace_of_schedule', [...path, key], text, 'Leave it out.')
    }
    return {}
  }
  const debounce = readDebounce(reading, given.debounce, [...path, 'debounce'])
  const rate = readRate(reading, given.rate, [...path, 'rate'])
  return { ...(debounce === undefined ? {} : { debounce }), ...(rate === undefined ? {} : { rate }) }
}

/** `at_most` is ten times as long where nobody says. */
const JOINED_TIMES = 10

function readDebounce(reading: Reading, given: Json | undefined, path: Path): Debounce | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.trigger_debounce, given, path)
  if (section === undefined) return undefined
  const { most_debounce_sec, most_joined_sec } = TRIGGER_LIMITS
  const for_sec = readSpan(reading, section.for, [...path, 'for'], { least: 1, most: most_debounce_sec })
  if (for_sec === undefined) {
    if (section.for === undefined) missing(reading, path, 'for', 'Add for: 30s.')
    return undefined
  }
  if (section.at_most === undefined) return { for_sec, at_most_sec: Math.min(for_sec * JOINED_TIMES, most_joined_sec) }
  const range = { least: for_sec, most: most_joined_sec }
  const at_most_sec = readSpan(reading, section.at_most, [...path, 'at_most'], range)
  return at_most_sec === undefined ? undefined : { for_sec, at_most_sec }
}

function readRate(reading: Reading, given: Json | undefined, path: Path): Rate | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.trigger_rate, given, path)
  if (section === undefined) return undefined
  const { limit } = section
  const per_sec = readSpan(reading, section.per, [...path, 'per'], { least: 1, most: TRIGGER_LIMITS.most_rate_sec })
  if (limit === undefined && !hasKey(given ?? null, 'limit')) missing(reading, path, 'limit', 'Add limit: 10.')
  if (section.per === undefined) missing(reading, path, 'per', 'Add per: 1h.')
  return limit === undefined || per_sec === undefined ? undefined : { limit, per_sec }
}

function readSpan(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (given === undefined) return undefined
  const seconds = readDuration(given)
  if (seconds !== undefined && seconds >= least && seconds <= most) return seconds
  const allowed = `allowed is a time of ${durationWords(least)} to ${durationWords(most)}: ${DURATION_RULE}`
  refuse(reading, 'invalid_value', path, `is ${describeValue(given)}; ${allowed}`)
  return undefined
}

function hasKey(given: Json, key: string): boolean {
  return typeof given === 'object' && given !== null && Object.hasOwn(given, key)
}

function kindOf({ problems }: Reading, given: Json, path: Path): Kind | undefined {
  const kinds = KINDS.filter((kind) => hasKey(given, kind))
  if (kinds.length === 1) return kinds[0]
  const seen =
    kinds.length === 0 ? 'nothing that starts runs' : `${kinds.length} things that start runs, ${listed(kinds)}`
  const hint = kinds.length === 0 ? 'Add schedule: { cron: "0 6 * * 1-5" }, for example.' : 'Make a trigger of each.'
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} has ${seen}; allowed is exactly one of ${listed(KINDS)}`,
    hint,
  })
  problems.push({ code: 'trigger_of_one', path, on: 'key', say })
  return undefined
}

type Own<T extends Trigger> = Omit<T, 'name' | 'inputs'>
type Read = Own<ScheduleTrigger> | Own<WebhookTrigger> | Own<EventTrigger> | Own<RunTrigger> | Own<ObjectTrigger>

const READERS: Readonly<Record<Kind, (reading: Reading, given: Json, path: Path) => Read | undefined>> = {
  schedule(reading, given, path) {
    const schedule = readSchedule(reading, given, path)
    return schedule && { kind: 'schedule', schedule }
  },
  webhook(reading, given, path) {
    const webhook = readWebhook(reading, given, path)
    return webhook && { kind: 'webhook', webhook }
  },
  event(reading, given, path) {
    const event = readEvent(reading, given, path)
    return event && { kind: 'event', event }
  },
  run(reading, given, path) {
    const run = readRun(reading, given, path)
    return run && { kind: 'run', run }
  },
  object(reading, given, path) {
    const object = readObject(reading, given, path)
    return object && { kind: 'object', object }
  },
}

function readSchedule(reading: Reading, given: Json, path: Path): Schedule | undefined {
  const section = readSection(reading, SECTIONS.trigger_schedule, given, path)
  if (section === undefined) return undefined
  const { cron, timezone = 'UTC', overlap = 'skip', catch_up = 'none' } = section
  if (cron === undefined) {
    if (!hasKey(given, 'cron')) missing(reading, path, 'cron', 'Add cron: "0 6 * * 1-5".')
    return undefined
  }
  const why = cronProblem(cron)
  if (why !== undefined) {
    refuse(reading, 'bad_cron', [...path, 'cron'], `is ${describeValue(cron)}: ${why}; allowed are ${CRON_RULE}`)
  }
  const zone = zoneProblem(timezone)
  if (zone !== undefined) {
    const text = `is ${describeValue(timezone)}; allowed are names of the IANA time zone database, as Europe/Berlin, and UTC`
    refuse(reading, 'bad_timezone', [...path, 'timezone'], text, zone.hint)
  }
  if (catch_up === 'all' && overlap === 'skip') {
    const text =
      'is all, but under overlap: skip every run that is made up for would be skipped while the one before it goes on'
    refuse(reading, 'catch_up_skipped', [...path, 'catch_up'], text, 'Add overlap: queue, or write catch_up: last.')
  }
  return why === undefined && zone === undefined ? { cron: cron.trim(), timezone, overlap, catch_up } : undefined
}

function readWebhook(reading: Reading, given: Json, path: Path): Webhook | undefined {
  const section = readSection(reading, SECTIONS.trigger_webhook, given, path)
  if (section === undefined) return undefined
  const { dedupe, max_body_bytes = TRIGGER_LIMITS.body_bytes, max_per_minute = TRIGGER_LIMITS.per_minute } = section
  if (dedupe !== undefined) checkProgram(reading, dedupe, [...path, 'dedupe'])
  const map = readMap(reading, section.map, [...path, 'map'])
  const hmac = readVerify(reading, given, section.verify, path)
  if (hmac === undefined) return undefined
  return { verify: { hmac }, ...(dedupe === undefined ? {} : { dedupe }), map, max_body_bytes, max_per_minute }
}

function readVerify(reading: Reading, within: Json, given: Json | undefined, path: Path): Hmac | undefined {
  const how =
    'Add verify: { hmac: { header: x-signature, secret: NAME } }: without a login, that is all that tells who sends.'
  if (given === undefined) {
    if (!hasKey(within, 'verify')) missing(reading, path, 'verify', how)
    return undefined
  }
  const verify = readSection(reading, SECTIONS.trigger_verify, given, [...path, 'verify'])
  if (verify === undefined) return undefined
  if (verify.hmac !== undefined) return readHmac(reading, verify.hmac, [...path, 'verify', 'hmac'])
  missing(reading, [...path, 'verify'], 'hmac', how)
  return undefined
}

function readHmac(reading: Reading, given: Json, path: Path): Hmac | undefined {
  const hmac = readSection(reading, SECTIONS.trigger_hmac, given, path)
  if (hmac === undefined) return undefined
  const { header, secret, algorithm = 'sha256', encoding = 'hex', prefix = '' } = hmac
  for (const key of ['header', 'secret'] as const) {
    if (hmac[key] === undefined && !hasKey(given, key)) missing(reading, path, key, `Add ${key}: NAME.`)
  }
  const timestamp = readTimestamp(reading, hmac.timestamp, [...path, 'timestamp'])
  if (header === undefined || secret === undefined || timestamp === 'wrong') return undefined
  const told = timestamp === undefined ? {} : { timestamp }
  return { header: header.toLowerCase(), secret, algorithm, encoding, prefix, ...told }
}

function readTimestamp(reading: Reading, given: Json | undefined, path: Path): Hmac['timestamp'] | 'wrong' {
  if (given === undefined) return undefined
  const section = readSection(reading, SECTIONS.trigger_timestamp, given, path)
  const { header, window_sec = TRIGGER_LIMITS.window_sec } = section ?? {}
  if (header !== undefined) return { header: header.toLowerCase(), window_sec }
  if (section !== undefined && !hasKey(given, 'header')) missing(reading, path, 'header', 'Add header: x-timestamp.')
  return 'wrong'
}

function readEvent(reading: Reading, given: Json, path: Path): EventTrigger['event'] | undefined {
  const section = readSection(reading, SECTIONS.trigger_event, given, path)
  if (section === undefined) return undefined
  const { name, match } = section
  if (match !== undefined) checkProgram(reading, match, [...path, 'match'])
  const map = readMap(reading, section.map, [...path, 'map'])
  if (typeof name === 'string' && isEventName(name)) return { name, ...(match === undefined ? {} : { match }), map }
  if (name === undefined) missing(reading, path, 'name', `A name is ${EVENT_NAME_RULE}.`)
  else refuse(reading, 'invalid_value', [...path, 'name'], `is ${describeValue(name)}; a name is ${EVENT_NAME_RULE}`)
  return undefined
}

function readRun(reading: Reading, given: Json, path: Path): RunTrigger['run'] | undefined {
  const section = readSection(reading, SECTIONS.trigger_run, given, path)
  if (section === undefined) return undefined
  const { dag, ends = ['completed'] } = section
  const map = readMap(reading, section.map, [...path, 'map'])
  if (dag !== undefined) return { dag, ends: [...new Set(ends)], map }
  if (!hasKey(given, 'dag')) missing(reading, path, 'dag', 'Add dag: the name of a deployed document.')
  return undefined
}

function readObject(reading: Reading, given: Json, path: Path): ObjectTrigger['object'] | undefined {
  const section = readSection(reading, SECTIONS.trigger_object, given, path)
  if (section === undefined) return undefined
  const { prefix = '', suffix = '', max_bytes = TRIGGER_LIMITS.object_bytes } = section
  const map = readMap(reading, section.map, [...path, 'map'])
  const odd = OBJECT_KEYS.find((key) => !isPartOfKey(section[key] ?? ''))
  if (odd !== undefined) {
    const text = `is ${describeValue(section[odd] ?? '')}; allowed is a part of a key, as inbox/ or .csv: no "\\", no "//", no part "." or "..", no control characters, and no "/" before all`
    refuse(reading, 'invalid_value', [...path, odd], text)
    return undefined
  }
  if (prefix !== '' || suffix !== '') return { prefix, suffix, max_bytes, map }
  // Where one of them was wrong that is told already.
  if (OBJECT_KEYS.every((key) => !hasKey(given, key) || section[key] === ''))
    missing(reading, path, 'prefix', 'Add prefix: inbox/, or suffix: .csv.')
  return undefined
}

const OBJECT_KEYS = ['prefix', 'suffix'] as const

/** As keys of dropped objects are: in the local place they are paths of files. */
function isPartOfKey(text: string): boolean {
  const parts = text.split('/')
  const isOdd = text.startsWith('/') || text.includes('//') || /[\\\p{Cc}]/u.test(text)
  return !isOdd && !parts.some((part) => part === '.' || part === '..') && text.isWellFormed()
}

/** A trigger by the end of runs of its own document: each run would start the next. */
export function selfTriggerProblems(triggers: readonly Trigger[], names: readonly string[]): Problem[] {
  return triggers.flatMap((trigger, index): Problem[] => {
    if (trigger.kind !== 'run' || !names.includes(trigger.run.dag)) return []
    const text = `is ${quoted(trigger.run.dag)}, the document it stands in: each run of it would start the next, for ever`
    const say: Problem['say'] = ({ place }) => ({ text: `${place} ${text}`, hint: 'Name another document.' })
    return [{ code: 'trigger_loop', path: ['triggers', index, 'run', 'dag'], say }]
  })
}

/** Run inputs by name, each an expression. */
function readMap(reading: Reading, given: Json | undefined, path: Path): Readonly<Record<string, string>> {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  const map: Record<string, string> = {}
  for (const [name, program] of Object.entries(mapping)) {
    if (typeof program === 'string' && program.trim() !== '' && program.length <= TRIGGER_LIMITS.program_characters) {
      checkProgram(reading, program, [...path, name])
      map[name] = program
    } else {
      const allowed = `allowed is JSONata, ${TRIGGER_LIMITS.program_characters} characters at most, as "body.ticket"`
      refuse(reading, 'invalid_value', [...path, name], `is ${describeValue(program)}; ${allowed}`)
    }
  }
  return bounded(reading, map, path)
}

/** Values as they are, and expressions in `{% %}`. */
function readInputs(reading: Reading, given: Json | undefined, path: Path): Readonly<Record<string, Json>> {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  for (const [name, value] of Object.entries(mapping)) {
    const program = expressionOf(value)
    if (program === undefined) continue
    if (program === '' || program.length > TRIGGER_LIMITS.program_characters) {
      const allowed = `allowed between {% and %} is JSONata of 1 to ${TRIGGER_LIMITS.program_characters} characters`
      refuse(reading, 'invalid_value', [...path, name], `has ${program.length} characters; ${allowed}`)
    } else checkProgram(reading, program, [...path, name])
  }
  return bounded(reading, mapping, path)
}

function bounded<T>(reading: Reading, mapping: Readonly<Record<string, T>>, path: Path): Readonly<Record<string, T>> {
  const count = Object.keys(mapping).length
  if (count <= TRIGGER_LIMITS.inputs) return mapping
  refuse(reading, 'limit_exceeded', path, `has ${count} inputs; the limit is ${TRIGGER_LIMITS.inputs}`)
  return {}
}

function refuseTwice(reading: Reading, map: object, inputs: object, path: Path): void {
  for (const name of Object.keys(map)) {
    if (!Object.hasOwn(inputs, name)) continue
    const text = 'gives an input that "inputs" of this trigger gives too'
    refuse(reading, 'input_given_twice', [...path, name], text, 'Keep one of them.')
  }
}

/** Names of inputs that a document reads, and those a start without them is refused for. */
interface KnownInputs {
  readonly known: readonly string[]
  missing(given: Readonly<Record<string, Json>>): readonly string[]
}

/** Whether each trigger gives what a start of the document takes, and what it needs. */
export function triggerInputProblems(triggers: readonly Trigger[], { known, missing: lacks }: KnownInputs): Problem[] {
  return triggers.flatMap((trigger, index) => {
    const given = [
      ...Object.keys(trigger.inputs).map((name) => ({ name, path: ['triggers', index, 'inputs', name] })),
      ...Object.keys(mapOf(trigger)).map((name) => ({ name, path: ['triggers', index, trigger.kind, 'map', name] })),
    ]
    const unknown = given.flatMap(({ name, path }): Problem[] => {
      if (known.includes(name)) return []
      const hint = known.length === 0 ? 'The document reads none.' : `It reads ${listed(known)}.`
      return [
        {
          code: 'unknown_input',
          path,
          on: 'key',
          say: ({ place }) => ({ text: `${place} gives no input of this document`, hint }),
        },
      ]
    })
    const without = lacks(Object.fromEntries(given.map(({ name }) => [name, true])))
    if (without.length === 0) return unknown
    const say: Problem['say'] = () => ({
      text: `trigger ${quoted(trigger.name)} gives no value for the required ${without.length === 1 ? 'input' : 'inputs'} ${listed(without)}`,
      hint: 'Add it to inputs or map of the trigger, or give the input of the document a default.',
    })
    return [...unknown, { code: 'trigger_input_missing', path: ['triggers', index], on: 'key', say }]
  })
}

function missing(reading: Reading, path: Path, key: string, hint: string): void {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} has no "${key}"`, hint })
  reading.problems.push({ code: 'missing_key', path, on: 'key', say })
}

function refuse({ problems }: Reading, code: string, path: Path, text: string, hint?: string): void {
  problems.push({ code, path, say: ({ place }) => ({ text: `${place} ${text}`, hint }) })
}
