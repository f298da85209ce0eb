import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { laneKey } from '../../shared/runs/lane.ts'
import type { OutsideEvent } from '../../shared/runs/outside-event.ts'
import {
  type CallbackAnswer,
  type EventTopic,
  type EventWait,
  topicsOfEvent,
  topicText,
  type WaitStore,
  waitId,
} from '../../shared/runs/wait-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Core } from './core.ts'
import { as, from, type Item, itemKey, itemTtl } from './run-store/item-encoding.ts'
import { ifAbsent, openTable, type RunTable, type RunTableOptions, tableClient } from './run-store/table.ts'

/** The WaitStore port on DynamoDB, in the table the environment names. */
export function openWaits(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: DynamoDBClientConfig = {},
): WaitStore {
  const { retention_days } = settings.safety
  return waitsOn({ ...tableClient(env, config), clock, ids, retention_days }, settings.public_url)
}

/**
 * Events and who looks for them lie in partitions of their topics, what is of one run beside the run. The table drops what
 * has expired by itself, some time later: reads leave it out.
 */
export function waitsOn(options: RunTableOptions, address?: string): WaitStore {
  const table = openTable(options)
  return { ...events(table), ...waits(table), ...answers(table, options.ids.random), address: () => address }
}

function events(table: RunTable): Pick<WaitStore, 'keepEvent' | 'keptEvents'> {
  return {
    async keepEvent(event) {
      const key = eventKey(event)
      const ttl = ttlOf(event.expires_at)
      const written = await table.put({ ...key, event: as.json(event), ttl }, ifAbsent)
      const before = written.ok ? undefined : (written.item ?? (await table.get(key)))
      const kept = before === undefined ? event : eventOf(before)
      // The first one's time and place: whoever sends it again lists the same entry.
      for (const topic of topicsOfEvent(kept)) {
        await table.put({
          pk: as.text(`T#${kept.tenant}#E#${topicText(topic)}`),
          sk: as.text(`${kept.at}/${kept.id}`),
          event: as.json(kept),
          ttl: ttlOf(kept.expires_at),
        })
      }
      return kept
    },
    async keptEvents(topic, { now, limit, after }) {
      const pk = as.text(`T#${topic.tenant}#E#${topicText(topic)}`)
      const page = await table.query({
        where: (terms) => ({ condition: `${terms.path('pk')} = ${terms.value(pk)}` }),
        backwards: true,
        limit,
        ...(after === undefined ? {} : { after: { pk, sk: as.text(after) } }),
      })
      const found = page.items.map(eventOf).filter(({ expires_at }) => expires_at > now)
      return { events: found, ...nextOf(page.last) }
    },
  }
}

function nextOf(last: Item | undefined): { readonly next?: string } {
  return last === undefined ? {} : { next: from.text(last, 'sk') }
}

/** An id may be anything people write: a hash of it names the item. */
function eventKey({ tenant, id }: Pick<OutsideEvent, 'tenant' | 'id'>): Item {
  return { pk: as.text(`T#${tenant}#EID#${sha256(id)}`), sk: as.text('EVENT') }
}

/** Our own text. */
function eventOf(item: Item): OutsideEvent {
  return JSON.parse(from.text(item, 'event'))
}

function ttlOf(expires_at: string) {
  return as.number(Math.ceil(Date.parse(expires_at) / 1_000))
}

const DAY_MS = 86_400_000

function waits(table: RunTable): Pick<WaitStore, 'register' | 'registered' | 'forget'> {
  return {
    async register(wait) {
      const ttl = ttlOf(new Date(Date.parse(wait.until) + DAY_MS).toISOString())
      await table.put({ ...waitKey(wait), wait: as.json(wait), ttl })
    },
    async registered(topic: EventTopic, { limit, after }) {
      const pk = as.text(`T#${topic.tenant}#W#${topicText(topic)}`)
      const page = await table.query({
        where: (terms) => ({ condition: `${terms.path('pk')} = ${terms.value(pk)}` }),
        limit,
        ...(after === undefined ? {} : { after: { pk, sk: as.text(after) } }),
      })
      const found = page.items.map((item): EventWait => JSON.parse(from.text(item, 'wait')))
      return { waits: found, ...nextOf(page.last) }
    },
    forget: (wait) => table.remove(waitKey(wait)),
  }
}

function waitKey(wait: EventWait): Item {
  const pk = as.text(`T#${wait.tenant}#W#${topicText(wait)}`)
  return { pk, sk: as.text(`${wait.run_id}/${waitId(wait)}`) }
}

type Answers = Pick<WaitStore, 'keepCallback' | 'callback' | 'addToken' | 'tokens' | 'signingKey'>

function answers(table: RunTable, random: (bytes: number) => Uint8Array): Answers {
  return {
    async keepCallback(run, of, answer) {
      const key = itemKey(run, `WC#${laneKey({ block: of.block })}/${of.epoch}`)
      const written = await table.put({ ...key, answer: as.json(answer), ttl: itemTtl(table) }, ifAbsent)
      if (written.ok) return answer
      return answerOf(written.item ?? (await table.get(key))) ?? answer
    },
    async callback(run, of) {
      return answerOf(await table.get(itemKey(run, `WC#${laneKey({ block: of.block })}/${of.epoch}`)))
    },
    async addToken(run, wait, token) {
      const key = itemKey(run, `WT#${wait}#${sha256(token)}`)
      await table.put({ ...key, token: as.text(token), ttl: itemTtl(table) }, ifAbsent)
    },
    async tokens(run, wait) {
      const items = await table.all(itemKey(run, `WT#${wait}#`))
      return items.map((item) => from.text(item, 'token'))
    },
    signingKey: (tenant) => keyOf(table, tenant, random),
  }
}

function answerOf(item: Item | undefined): CallbackAnswer | undefined {
  return item === undefined ? undefined : JSON.parse(from.text(item, 'answer'))
}

/** As the key of cursors: made at the first use, and the same ever after. */
async function keyOf(table: RunTable, tenant: string, random: (bytes: number) => Uint8Array): Promise<Uint8Array> {
  const key = { pk: as.text(`T#${tenant}`), sk: as.text('CALLBACK_KEY') }
  const there = await table.get(key)
  if (there !== undefined) return from.bytes(there, 'key')
  const made = random(32)
  const written = await table.put({ ...key, key: as.bytes(made) }, ifAbsent)
  if (written.ok) return made
  return from.bytes(written.item ?? (await table.get(key)) ?? {}, 'key')
}
