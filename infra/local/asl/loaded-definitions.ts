import type { Machine as Definition } from '../../../shared/compile/asl.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/world.ts'
import { readDefinition } from './definition.ts'
import type { Journal } from './journal.ts'

const PREFIX = 'local:'
/** Between the hash of a machine and the key of one of its parts. */
const PART = '/'
/** Parsed machines kept at hand; running executions hold their own. */
const MOST_LOADED = 100
/** A use is written again after so long: much less than what is unused is kept for. */
const NOTED_MS = 600_000

export interface Definitions {
  /** Checks and journals machine text under its hash; again is a use of it. */
  keep(text: string, hash: string): void
  forget(hash: string): void
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
export function hashOfPart(hash: string, key: string): string {
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
