import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { sha256 } from '../../shared/text/hash.ts'
import type { TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState, TriggerStore } from '../../shared/triggers/trigger-store.ts'
import type { Core } from './core.ts'
import { as, from, type Item, itemTtl } from './run-store/item-encoding.ts'
import { ifAbsent, openTable, type RunTable, type RunTableOptions, tableClient } from './run-store/table.ts'

/** The TriggerStore port on DynamoDB, in the table the environment names. */
export function openTriggers(
  { env, clock, ids, settings }: Pick<Core, 'env' | 'clock' | 'ids' | 'settings'>,
  config: DynamoDBClientConfig = {},
): TriggerStore {
  const { retention_days } = settings.safety
  return triggersOn({ ...tableClient(env, config), clock, ids, retention_days })
}

/**
 * A trigger and its firings lie in a partition of their own (`T#<tenant>#TR#<hash>`), and what is owed in one of the tenant
 * (`T#<tenant>#OWED`): an entry there is written before its firing and removed after it is over, so whoever finds one of a
 * firing that is over, or of none, only has not tidied up. The table drops firings with the retention of runs.
 */
export function triggersOn(options: RunTableOptions): TriggerStore {
  const table = openTable(options)
  return { ...states(table), ...firings(table) }
}

function partition({ tenant, document, trigger }: TriggerKey): string {
  return `T#${tenant}#TR#${sha256(JSON.stringify([document, trigger]))}`
}

function states(table: RunTable): Pick<TriggerStore, 'state' | 'putState'> {
  const keyOf = (trigger: TriggerKey): Item => ({ pk: as.text(partition(trigger)), sk: as.text('STATE') })
  return {
    async state(trigger) {
      const item = await table.get(keyOf(trigger))
      return item === undefined ? undefined : stateOf(item)
    },
    async putState(state) {
      const { version } = state
      const before = version - 1
      const condition: typeof ifAbsent =
        version === 1 ? ifAbsent : (terms) => `${terms.path('version')} = ${terms.value(as.number(before))}`
      const item = { ...keyOf(state), version: as.number(version), trigger: as.json(state) }
      return (await table.put(item, condition)).ok
    },
  }
}

/** Our own text. */
function stateOf(item: Item): TriggerState {
  return JSON.parse(from.text(item, 'trigger'))
}

function firingOf(item: Item): Firing {
  return JSON.parse(from.text(item, 'firing'))
}

/** Where one of an id is told which one it is: ids may be anything people write. */
function firingKey(trigger: TriggerKey, id: string): Item {
  return { pk: as.text(partition(trigger)), sk: as.text(`F#${sha256(id)}`) }
}

/** The same by time. */
function placeOf({ at, document, trigger, id }: Firing): string {
  return `${at}/${sha256(JSON.stringify([document, trigger, id]))}`
}

function owedKey(firing: Firing): Item {
  return { pk: as.text(owedOf(firing.tenant)), sk: as.text(placeOf(firing)) }
}

function owedOf(tenant: string): string {
  return `T#${tenant}#OWED`
}

function timeKey(firing: Firing): Item {
  return { pk: as.text(partition(firing)), sk: as.text(`BY#${placeOf(firing)}`) }
}

/** An entry that leads to a firing. */
function leadTo({ document, trigger, id }: Firing): Item {
  return { of: as.json({ document, trigger, id }) }
}

function leadOf(item: Item): { readonly document: string; readonly trigger: string; readonly id: string } {
  return JSON.parse(from.text(item, 'of'))
}

/** A writer that stands still for so long between an entry and its firing is taken for dead. */
const DEAD_MS = 300_000

function firings(table: RunTable): Omit<TriggerStore, 'state' | 'putState'> {
  const read = async (trigger: TriggerKey, id: string) => {
    const item = await table.get(firingKey(trigger, id))
    return item === undefined ? undefined : firingOf(item)
  }
  return {
    async keepFiring(firing) {
      const ttl = itemTtl(table)
      // First what leads to it: nobody would find one that is owed and is in no list.
      if (firing.state === 'owed')
        await table.put({ ...owedKey(firing), ...leadTo(firing), kept_at: as.text(firing.kept_at) })
      await table.put({ ...timeKey(firing), ...leadTo(firing), ttl })
      const item = { ...firingKey(firing, firing.id), state: as.text(firing.state), firing: as.json(firing), ttl }
      const written = await table.put(item, ifAbsent)
      if (written.ok) return firing
      const kept = (written.item === undefined ? undefined : firingOf(written.item)) ?? (await read(firing, firing.id))
      // The entries of the second one lead to the first as well.
      return kept ?? firing
    },
    firing: read,
    async moveFiring(firing) {
      const key = firingKey(firing, firing.id)
      const item = { ...key, state: as.text(firing.state), firing: as.json(firing), ttl: itemTtl(table) }
      const moved = await table.put(item, (terms) => `${terms.path('state')} = ${terms.value(as.text('owed'))}`)
      if (moved.ok && firing.state !== 'owed') await table.remove(owedKey(firing))
      return moved.ok
    },
    async forgetInputs(trigger, id) {
      const item = await table.get(firingKey(trigger, id))
      const firing = item === undefined ? undefined : firingOf(item)
      if (item === undefined || firing === undefined || firing.state === 'owed') return
      const { values: _, object: __, ...rest } = firing
      // What is over is written by nobody else.
      await table.put({ ...item, firing: as.json(rest) })
    },
    async firings(trigger, { limit, after }) {
      const pk = as.text(partition(trigger))
      const page = await table.query({
        where: (terms) => ({
          condition: `${terms.path('pk')} = ${terms.value(pk)} AND begins_with(${terms.path('sk')}, ${terms.value(as.text('BY#'))})`,
        }),
        backwards: true,
        limit,
        ...(after === undefined ? {} : { after: { pk, sk: as.text(after) } }),
      })
      const found: Firing[] = []
      for (const item of page.items) {
        const firing = await read(trigger, leadOf(item).id)
        // An entry of a second message of one id leads to the first.
        if (firing !== undefined && `BY#${placeOf(firing)}` === from.text(item, 'sk')) found.push(firing)
      }
      return { firings: found, ...(page.last === undefined ? {} : { next: from.text(page.last, 'sk') }) }
    },
    async owed(tenant, limit) {
      return (await listOwed(table, read, tenant, limit)).firings
    },
    async takeOwed(tenant, limit) {
      const { firings: found, over } = await listOwed(table, read, tenant, limit)
      for (const sk of over) await table.remove({ pk: as.text(owedOf(tenant)), sk: as.text(sk) })
      return found
    },
  }
}

type ReadFiring = (trigger: TriggerKey, id: string) => Promise<Firing | undefined>

/** `over`: sort keys of entries that lead to nothing that is owed. */
async function listOwed(table: RunTable, read: ReadFiring, tenant: string, limit: number) {
  const found: Firing[] = []
  const over: string[] = []
  for (const item of await table.all({ pk: as.text(owedOf(tenant)), sk: as.text('') }, limit)) {
    const { document, trigger, id } = leadOf(item)
    const firing = await read({ tenant, document, trigger }, id)
    const isDead = table.now() - Date.parse(from.text(item, 'kept_at')) > DEAD_MS
    const sk = from.text(item, 'sk')
    if (firing?.state === 'owed' && sk === placeOf(firing)) found.push(firing)
    else if (firing !== undefined || isDead) over.push(sk)
  }
  return { firings: found, over }
}
