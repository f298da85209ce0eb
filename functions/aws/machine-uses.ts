import { Fault } from '../../shared/errors.ts'
import { as, from, type Item } from './run-store/item-encoding.ts'
import { openTable, type RunTableOptions } from './run-store/table.ts'

/** What is known of a machine of an inline document. */
export interface MachineUse {
  readonly name: string
  /** When a run was about to be started on it last, ms since 1970. */
  readonly used_at: number
  /** Names of its parts, of every text it had. */
  readonly parts: readonly string[]
  /** When its removal began, ms since 1970. */
  readonly leaving?: number
}

/** Which machines there are and when they were used: what starts and removals agree by (docs/adr/0058). */
export interface MachineUses {
  /** Before a machine is made. False: it is being removed. Fault LimitExceeded machine_limit. */
  note(name: string, parts: readonly string[]): Promise<boolean>
  /** Before a run is started on it. False: it is being removed. */
  use(name: string): Promise<boolean>
  all(): Promise<readonly MachineUse[]>
  /** Begins its removal, unless it was used since it was read or somebody else removes it. */
  leave(use: MachineUse): Promise<boolean>
  /** It is removed. */
  forget(name: string): Promise<void>
}

/** Twice as many as may be active at once, a fifth of what an account has room for; the rest is other people's. */
const MOST = 2_000

/** A function lives 15 minutes at most: what it began to remove and has not by then, another one removes. */
const REMOVER_MS = 900_000

/** One partition for all of a stage: machines are made by hash, whoever starts. */
export function machineUsesOn(options: RunTableOptions): MachineUses {
  const table = openTable(options)
  const now = () => options.clock.now()
  const touch = async (name: string, parts: readonly string[], isKnown: boolean) => {
    const written = await table.update(keyOf(name), ({ path, value }) => {
      const used = `SET ${path('used_at')} = ${value(as.number(now()))}`
      const free = `attribute_not_exists(${path('leaving')})`
      return {
        update: parts.length === 0 ? used : `${used} ADD ${path('parts')} ${value(as.members(parts))}`,
        condition: isKnown ? `attribute_exists(${path('used_at')}) AND ${free}` : free,
      }
    })
    return written.ok
  }
  const all = async () => (await table.all({ pk: PARTITION, sk: as.text(PREFIX) })).map(read)
  return {
    async note(name, parts) {
      if ((await table.get(keyOf(name))) === undefined && (await all()).length >= MOST) throw tooMany()
      return touch(name, parts, false)
    },
    async use(name) {
      // One nobody knows of nobody removes.
      return (await touch(name, [], true)) || (await table.get(keyOf(name))) === undefined
    },
    all,
    async leave({ name, used_at, leaving }) {
      if (leaving !== undefined && now() - leaving < REMOVER_MS) return false
      const mine = table.nonce()
      const written = await table.update(keyOf(name), ({ path, value }) => ({
        update: `SET ${path('leaving')} = ${value(as.number(now()))}, ${path('remover')} = ${value(as.text(mine))}`,
        condition: `${path('used_at')} = ${value(as.number(used_at))} AND ${
          leaving === undefined
            ? `attribute_not_exists(${path('leaving')})`
            : `${path('leaving')} = ${value(as.number(leaving))}`
        }`,
      }))
      // One whose answer was lost is sent again, and finds itself.
      return written.ok || (await table.get(keyOf(name)))?.remover?.S === mine
    },
    forget: (name) => table.remove(keyOf(name)),
  }
}

const PARTITION = as.text('MACHINES')

const PREFIX = 'MACHINE#'

function keyOf(name: string): Item {
  return { pk: PARTITION, sk: as.text(PREFIX + name) }
}

function read(item: Item): MachineUse {
  const name = from.text(item, 'sk').slice(PREFIX.length)
  const leaving = item.leaving === undefined ? {} : { leaving: from.number(item, 'leaving') }
  return { name, used_at: from.number(item, 'used_at'), parts: from.members(item, 'parts'), ...leaving }
}

function tooMany(): Fault {
  const message = `Cannot make a machine for this document: this stage has ${MOST.toLocaleString('en-US')} machines of inline documents, its limit. Those unused for an hour are removed each hour: try again then, or deploy the document.`
  return new Fault('LimitExceeded', 'machine_limit', message, { facts: { most: MOST } })
}
