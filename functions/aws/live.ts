import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { type Live, type LiveText, type Speaker, withPiece } from '../../shared/ports/live.ts'
import type { Core } from './core.ts'
import { as, from } from './run-store/item-encoding.ts'
import { openTable, type RunTable, type RunTableOptions, tableClient } from './run-store/table.ts'

/** What models are saying now on DynamoDB, in the table the environment names; only where the settings ask for it. */
export function openLive(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: DynamoDBClientConfig = {},
): Live {
  const { retention_days } = settings.safety
  return liveOn({ ...tableClient(env, config), clock, ids, retention_days })
}

/** An item is written so often at the most, and looked for so often: 5 write units a second of one that speaks. */
const EVERY_MS = 500
/** Characters of an item: what is said in a few seconds. */
const KEPT = 4_096
/** One whose writer died is nothing after this. */
const KEPT_SEC = 60

/**
 * One item a lane, in a partition of its own for each run, whose readers poll it. It is written over while somebody speaks,
 * and deleted then; what a writer that died left is read no longer than a minute, and the table drops it.
 */
export function liveOn(options: RunTableOptions): Live {
  const table = openTable(options)
  const { clock } = options
  return {
    speak: (run, speaker) => speak(table, clock, { pk: partitionOf(run), speaker }),
    async heard(run) {
      const pk = as.text(partitionOf(run))
      const page = await table.query({
        where: (terms) => ({ condition: `${terms.path('pk')} = ${terms.value(pk)}` }),
        limit: MOST_LANES,
      })
      const now = clock.now() / 1_000
      // Our own text.
      const lanes = page.items.map((item) => ({ ttl: from.number(item, 'ttl'), said: from.text(item, 'said') }))
      return lanes.flatMap(({ ttl, said }) => (ttl <= now ? [] : [JSON.parse(said) as LiveText]))
    },
    said: (_run, signal) => clock.delay(EVERY_MS, signal).catch(() => {}),
  }
}

/** Of the answers that are under way at once. */
const MOST_LANES = 50

function partitionOf({ tenant, run_id }: Parameters<Live['heard']>[0]): string {
  return `T#${tenant}#L#${run_id}`
}

interface Voice {
  readonly pk: string
  readonly speaker: Speaker
}

/** One write at a time; what is said meanwhile goes with the next. A write that fails is not made again. */
function speak(table: RunTable, clock: RunTableOptions['clock'], { pk, speaker }: Voice): ReturnType<Live['speak']> {
  const key = { pk: as.text(pk), sk: as.text(speaker.lane) }
  let said: LiveText = { ...speaker, from: 0, text: '' }
  let isNew = false
  let isOver = false
  let isWriting = false
  let put: Promise<unknown> = Promise.resolve()
  const write = async () => {
    isWriting = true
    while (isNew && !isOver) {
      isNew = false
      const ttl = as.number(Math.ceil(clock.now() / 1_000) + KEPT_SEC)
      put = table.put({ ...key, said: as.json(said), ttl }).catch(() => {})
      await put
      await clock.delay(EVERY_MS)
    }
    isWriting = false
  }
  return {
    add(piece) {
      said = { ...speaker, ...withPiece(said, piece, KEPT) }
      isNew = true
      if (!isWriting) void write()
    },
    async end() {
      isOver = true
      await put
      if (said.text !== '') await table.remove(key).catch(() => {})
    },
  }
}
