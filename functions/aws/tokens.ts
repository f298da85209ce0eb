import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { KEPT_DAYS, type StoredToken, type Tokens } from '../../shared/auth/token.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { Core } from './core.ts'
import { as, from, type Item } from './run-store/item-encoding.ts'
import { ifAbsent, openTable, type RunTableOptions, tableClient } from './run-store/table.ts'

/** The Tokens port on DynamoDB, in the table the environment names. */
export function openTokens(
  { env, clock, ids }: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: DynamoDBClientConfig = {},
): Tokens {
  return tokensOn({ ...tableClient(env, config), clock, ids })
}

/** One partition for all: who comes with a token has told no tenant yet. No scans; the table drops what expired. */
export function tokensOn(options: RunTableOptions): Tokens {
  const table = openTable(options)
  const get = async (id: string) => {
    const item = await table.get(keyOf(id))
    return item === undefined ? undefined : read(item)
  }
  return {
    get,
    async put(token) {
      const written = await table.put(itemOf(token), ifAbsent)
      // One whose answer was lost is sent again, and finds itself.
      return written.ok || canonicalJson((await get(token.id)) ?? null) === canonicalJson(token)
    },
    async list(tenant) {
      const items = await table.all({ pk: PARTITION, sk: as.text('TOKEN#') })
      return items.map(read).filter((token) => token.tenant === tenant)
    },
    async revoke(tenant, id, revoked) {
      const written = await table.update(keyOf(id), ({ path, value }) => ({
        update: `SET ${path('revoked')} = if_not_exists(${path('revoked')}, ${value(as.json(revoked))})`,
        condition: `${path('tenant')} = ${value(as.text(tenant))}`,
      }))
      return written.ok ? read(written.item) : undefined
    },
  }
}

const PARTITION = as.text('TOKENS')

function keyOf(id: string): Item {
  return { pk: PARTITION, sk: as.text(`TOKEN#${id}`) }
}

function itemOf({ revoked, ...token }: StoredToken): Item {
  const ttl = Math.floor(Date.parse(token.expires_at) / 1_000) + KEPT_DAYS * 86_400
  return {
    ...keyOf(token.id),
    tenant: as.text(token.tenant),
    token: as.json(token),
    ttl: as.number(ttl),
    ...(revoked === undefined ? {} : { revoked: as.json(revoked) }),
  }
}

/** Our own text. */
function read(item: Item): StoredToken {
  const token = JSON.parse(from.text(item, 'token'))
  return item.revoked === undefined ? token : { ...token, revoked: JSON.parse(from.text(item, 'revoked')) }
}
