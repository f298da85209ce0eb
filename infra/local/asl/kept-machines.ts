import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import { bindKnownPlaceholders } from '../../../shared/compile/bind-placeholders.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import { type ClearLimits, type MachineText, machinesToClear } from '../../../shared/runs/machine.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { readDefinition } from './definition.ts'
import type { Journal } from './journal.ts'

const PREFIX = 'local:'
/** Between the hash of a machine and the key of one of its parts. */
const PART = '/'
/** Parsed machines kept at hand; running executions hold their own. */
const MOST_LOADED = 100
/** A use is written again after so long: much less than what is unused is kept for. */
const NOTED_MS = 600_000

interface KeptMachine {
  readonly text: string
  readonly parts: readonly MachineText[]
  readonly own: string
  /** Under which its texts are kept. */
  readonly hashes: readonly string[]
}

export interface Definitions {
  /** Checks and journals machine text under its hash; again is a use of it. */
  keep(text: string, hash: string): void
  forget(hash: string): void
  /** Notes that these are about to be used; false where one is in memory no more, and none is noted. */
  touch(hashes: readonly string[]): boolean
  /** By hash of a document: what was kept of it last, so that the next run of it asks for nothing. */
  readonly keptLast: Map<string, KeptMachine>
  idOf(hash: string): string
  /** Fault NotFound machine_unknown; InvalidInput machine_not_supported for text an older process took. */
  load(machine: string): Definition
}

/** Machines by id `local:<hash>`: text with placeholders in the journal, bound and parsed here. */
export function createDefinitions(
  journal: Journal,
  bind: (text: string) => string,
  clock: Pick<Clock, 'now'>,
): Definitions {
  const loaded = new Map<string, Definition>()
  const noted = new Map<string, number>()
  const note = (hash: string): void => {
    const now = clock.now()
    if (now - (noted.get(hash) ?? Number.NEGATIVE_INFINITY) < NOTED_MS) return
    noted.set(hash, now)
    journal.use(hash, now)
  }
  const remember = (hash: string, text: string): Definition => {
    const definition = readDefinition(bind(text))
    const [oldest] = loaded.keys()
    if (loaded.size >= MOST_LOADED && oldest !== undefined) loaded.delete(oldest)
    loaded.set(hash, definition)
    return definition
  }
  return {
    keep(text, hash) {
      note(hash)
      if (loaded.has(hash)) return
      remember(hash, text)
      journal.define(hash, text)
    },
    forget(hash) {
      loaded.delete(hash)
      noted.delete(hash)
      journal.undefine(hash)
    },
    touch(hashes) {
      if (!hashes.every((hash) => loaded.has(hash))) return false
      for (const hash of hashes) note(hash)
      return true
    },
    keptLast: new Map(),
    idOf: (hash) => PREFIX + hash,
    load(machine) {
      const hash = machine.startsWith(PREFIX) ? machine.slice(PREFIX.length) : ''
      const known = loaded.get(hash)
      if (known !== undefined) return known
      const text = journal.definition(hash)
      if (text === undefined) throw unknown(machine)
      return remember(hash, text)
    },
  }
}

/** Hash under which a part is kept. */
function hashOfPart(hash: string, key: string): string {
  return hash + PART + key
}

/** Whether it is a part of a machine, which is started by that and by nobody else. */
export function isPart(machine: string): boolean {
  return machine.includes(PART)
}

function unknown(machine: string): Fault {
  const message = `Cannot find machine "${machine}" on this place: only machines made by ensure() here are known.`
  return new Fault('NotFound', 'machine_unknown', message, { facts: { machine } })
}

interface Deps {
  readonly definitions: Definitions
  readonly journal: Journal
}

/**
 * Keeps a machine and its parts, parts first, and answers its id. An older version may have compiled another text of the
 * same document: then this one gets an id of its own, since runs that began on the older text resume with that.
 */
export function keepWithParts(deps: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  const { definitions } = deps
  const own = ownHash(deps, text, hash, parts)
  const texts = textsFor(definitions, own, text, parts)
  for (const [key, kept] of texts) definitions.keep(kept, key)
  if (definitions.keptLast.size >= MOST_LOADED) definitions.keptLast.clear()
  definitions.keptLast.set(hash, { text, parts, own, hashes: texts.map(([key]) => key) })
  return definitions.idOf(own)
}

/** The id of one that is kept already, as the last of its document; undefined: `keepWithParts` has to look. */
export function keptBefore(
  { definitions }: Pick<Deps, 'definitions'>,
  text: string,
  hash: string,
  parts: readonly MachineText[],
): string | undefined {
  const last = definitions.keptLast.get(hash)
  const isSame = last?.text === text && last.parts === parts && definitions.touch(last.hashes)
  return isSame ? definitions.idOf(last.own) : undefined
}

/** The id `keepWithParts` would answer. */
export function idWithParts(deps: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  return deps.definitions.idOf(ownHash(deps, text, hash, parts))
}

function ownHash({ definitions, journal }: Deps, text: string, hash: string, parts: readonly MachineText[]): string {
  const isFree = ([key, own]: readonly [string, string]) => (journal.definition(key) ?? own) === own
  const plain = textsFor(definitions, hash, text, parts)
  return plain.every(isFree) ? hash : `${hash}.${sha256(JSON.stringify(plain)).slice(0, 8)}`
}

/** Each text under its key, the placeholders of parts replaced by their ids. */
function textsFor(definitions: Definitions, hash: string, text: string, parts: readonly MachineText[]) {
  const ids = Object.fromEntries(parts.map(({ key }) => [key, definitions.idOf(hashOfPart(hash, key))]))
  const rows = parts.map((part) => [hashOfPart(hash, part.key), bindKnownPlaceholders(part.text, ids)] as const)
  return [...rows, [hash, bindKnownPlaceholders(text, ids)] as const]
}

interface Parts {
  readonly journal: Journal
  readonly definitions: Definitions
  /** Machines that runs which have not ended name. */
  needed?(): ReadonlySet<string>
}

/**
 * Forgets the texts of machines that are idle, each with its parts; answers how many. What an unfinished execution runs
 * on stays, and what a run names that has not started yet. Nothing comes between looking and forgetting.
 */
export function clearDefinitions({ journal, definitions, needed }: Parts, limits: ClearLimits): number {
  const kept = new Set([...journal.unfinished().map(({ machine }) => machine), ...(needed?.() ?? [])].map(wholeOf))
  const machines = new Map<string, { used_at: number; readonly hashes: string[] }>()
  for (const { hash, used_at } of journal.uses()) {
    const machine = machines.get(wholeOf(hash)) ?? { used_at: 0, hashes: [] }
    machine.used_at = Math.max(machine.used_at, used_at)
    machine.hashes.push(hash)
    machines.set(wholeOf(hash), machine)
  }
  const all = [...machines].map(([whole, machine]) => ({ ...machine, whole }))
  const idle = machinesToClear(all, limits).filter(({ whole }) => !kept.has(definitions.idOf(whole)))
  for (const hash of idle.flatMap(({ hashes }) => hashes)) definitions.forget(hash)
  return idle.length
}

/** Hash or id, of a machine or of a part of it: a part's has the machine's before its `/`. */
function wholeOf(name: string): string {
  return name.split('/')[0] ?? name
}
