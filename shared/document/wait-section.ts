import type { Wait } from '../dag/dag.ts'
import { templateReferences } from '../dag/template.ts'
import { LIMITS } from '../limits.ts'
import { EVENT_KEY_RULE, EVENT_NAME_RULE, isEventKey, isEventName } from '../runs/outside-event.ts'
import type { Problem } from '../text/document-problems.ts'
import { DURATION_RULE, durationWords, isTime, readDuration } from '../text/duration.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, listed, quoted } from '../text/wording.ts'
import type { PortDraft, Ports } from './ports.ts'
import { checkProgram } from './programs.ts'
import { type Reading, readSection, SECTIONS } from './sections.ts'

const KINDS = ['for', 'until', 'event', 'callback'] as const
type Kind = (typeof KINDS)[number]

/** The section `wait`: exactly one thing to wait for (docs/dag.md, "Wait"). */
export function readWait(
  reading: Reading,
  given: Json,
  path: Path,
  outputs: Ports,
): { readonly mode: 'wait'; readonly wait: Wait } | undefined {
  const section = readSection(reading, SECTIONS.wait, given, path)
  if (section === undefined) return undefined
  const kinds = KINDS.filter((kind) => section[kind] !== undefined && section[kind] !== false)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) return refuseCount(reading, given, path, kinds)
  const wait =
    kind === 'for' || kind === 'until'
      ? readTimed(reading, kind, section, path, outputs)
      : readAnswered(reading, kind, section, path, outputs)
  return wait === undefined ? undefined : { mode: 'wait', wait }
}

type Section = NonNullable<ReturnType<typeof readSection<typeof SECTIONS.wait>>>

function readTimed(
  reading: Reading,
  kind: 'for' | 'until',
  section: Section,
  path: Path,
  outputs: Ports,
): Wait | undefined {
  refuseBeside(reading, section, path, kind)
  refuseRequired(reading, outputs, path, 'a wait for a time gives none')
  return kind === 'for' ? readFor(reading, section.for, path) : readUntil(reading, section.until, path)
}

function readAnswered(
  reading: Reading,
  kind: 'event' | 'callback',
  { on_timeout = 'fail', timeout, event: given }: Section,
  path: Path,
  outputs: Ports,
): Wait | undefined {
  if (on_timeout === 'complete') refuseRequired(reading, outputs, path, 'with on_timeout: complete there may be none')
  const at = [...path, 'timeout']
  const timeout_sec = timeout === undefined ? LIMITS.wait_default_sec : readSeconds(reading, timeout, at)
  const event = kind === 'event' ? readEvent(reading, given ?? null, [...path, 'event']) : {}
  return timeout_sec === undefined || event === undefined ? undefined : toWait(event, { timeout_sec, on_timeout })
}

type Event = Omit<Extract<Wait, { kind: 'event' }>, 'kind' | 'timeout_sec' | 'on_timeout'>
type Ending = Pick<Extract<Wait, { kind: 'callback' }>, 'timeout_sec' | 'on_timeout'>

function toWait(event: Event | Record<never, never>, ending: Ending): Wait {
  return 'name' in event ? { kind: 'event', ...event, ...ending } : { kind: 'callback', ...ending }
}

function refuseCount({ problems }: Reading, given: Json, path: Path, kinds: readonly Kind[]): undefined {
  // A key that is there but wrong is a problem already.
  const written = KINDS.filter((kind) => typeof given === 'object' && given !== null && Object.hasOwn(given, kind))
  if (kinds.length === 0 && written.some((kind) => kind !== 'callback')) return undefined
  const seen = kinds.length === 0 ? 'nothing to wait for' : `${kinds.length} things to wait for, ${listed(kinds)}`
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has ${seen}; allowed is exactly one of ${listed(KINDS)}`,
    hint: kinds.length === 0 ? 'Add for: 2h, until: TIME, event: { name: .. } or callback: true.' : 'Keep one of them.',
  })
  problems.push({ code: 'wait_for_one', path, on: 'key', say })
  return undefined
}

/** Somebody would expect something of them. */
function refuseBeside(
  { problems }: Reading,
  section: { readonly timeout?: Json | undefined; readonly on_timeout?: string | undefined },
  path: Path,
  kind: Kind,
): void {
  for (const key of ['timeout', 'on_timeout'] as const) {
    if (section[key] === undefined) continue
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has "${key}", which does not go with "${kind}": its time is its end`,
      hint: 'Remove it.',
    })
    problems.push({ code: 'mode_mismatch', path: [...path, key], on: 'key', say })
  }
}

function refuseRequired({ problems }: Reading, outputs: Ports, path: Path, why: string): void {
  for (const [name, port] of outputs) {
    if (!isRequired(port)) continue
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} promises the output ${quoted(name)}, but ${why}`,
      hint: `Write ${name}: { type: ${port.type ?? 'json'}, required: false }, or remove it.`,
    })
    problems.push({ code: 'output_never_given', path: [...path.slice(0, -1), 'outputs', name], on: 'key', say })
  }
}

function isRequired({ required }: PortDraft): boolean {
  return required !== false
}

function readFor(reading: Reading, given: Json | undefined, path: Path): Wait | undefined {
  const sec = readSeconds(reading, given, [...path, 'for'])
  return sec === undefined ? undefined : { kind: 'for', sec }
}

function readSeconds(reading: Reading, given: Json | undefined, path: Path): number | undefined {
  const seconds = readDuration(given)
  if (seconds === undefined || seconds < 1) {
    refuse(
      reading,
      'invalid_value',
      path,
      `is ${describeValue(given ?? null)}; allowed are ${DURATION_RULE}, from 1s on`,
    )
    return undefined
  }
  if (seconds <= LIMITS.wait_sec) return seconds
  refuse(
    reading,
    'limit_exceeded',
    path,
    `is ${durationWords(seconds)}; the limit is ${durationWords(LIMITS.wait_sec)}`,
  )
  return undefined
}

/** A time as ISO 8601 has it, or one placeholder whose value is one. */
function readUntil(reading: Reading, given: Json | undefined, path: Path): Wait | undefined {
  const at = typeof given === 'string' ? given.trim() : ''
  if (isTime(at) || (/^\{\{[^{}]*\}\}$/.test(at) && templateReferences(at).length === 1)) return { kind: 'until', at }
  const allowed = 'a time such as 2026-12-24T18:00:00Z, with its offset, and one placeholder such as "{{inputs.at}}"'
  refuse(reading, 'invalid_value', [...path, 'until'], `is ${describeValue(given ?? null)}; allowed are ${allowed}`)
  return undefined
}

function readEvent(reading: Reading, given: Json, path: Path): Event | undefined {
  const section = readSection(reading, SECTIONS.wait_event, given, path)
  if (section === undefined) return undefined
  const { match } = section
  const name = readName(reading, section.name, [...path, 'name'])
  const key = readKey(reading, section.key, [...path, 'key'])
  if (match !== undefined) checkProgram(reading, match, [...path, 'match'])
  if (name === undefined || key === 'wrong') return undefined
  return { name, ...key, ...(match === undefined ? {} : { match }) }
}

function readName(reading: Reading, name: Json | undefined, path: Path): string | undefined {
  if (typeof name === 'string' && isEventName(name)) return name
  if (name === undefined) refuse(reading, 'missing_key', path, `is missing; a name is ${EVENT_NAME_RULE}`)
  else refuse(reading, 'invalid_value', path, `is ${describeValue(name)}; a name is ${EVENT_NAME_RULE}`)
  return undefined
}

function readKey(reading: Reading, key: Json | undefined, path: Path): { readonly key?: string } | 'wrong' {
  if (key === undefined) return {}
  if (typeof key === 'string' && isEventKey(key)) return { key }
  const allowed = `a key is ${EVENT_KEY_RULE}, or a template for it`
  refuse(reading, 'invalid_value', path, `is ${describeValue(key)}; ${allowed}`)
  return 'wrong'
}

function refuse({ problems }: Reading, code: string, path: Path, text: string): void {
  problems.push({ code, path, say: ({ place }) => ({ text: `${place} ${text}` }) })
}
