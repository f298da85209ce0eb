import { type AttributeValue, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import type { Through } from '../aws/deploy.ts'
import { type Passing, watchService } from '../aws/watched-service.ts'
import { emulatedAws } from '../emulators/aws-client.ts'
import { writeUnits } from '../faults/item-store/billed.ts'
import { bytesOfMap } from '../faults/item-store/kinds.ts'

type Item = Record<string, AttributeValue>
interface Write {
  readonly TableName: string
  readonly Key?: Item
  readonly Item?: Item
}

/**
 * Weighs every item that is written to the table, and reckons the write units AWS would bill. Of writes to one item at the
 * same time each may see the other's: HEAD's units are exact to a few in a thousand.
 */
export function openItemScales() {
  const open: { close(): unknown }[] = []
  let units = 0
  let largest = 0
  let head = 0
  const weigh = (now: Item | undefined) => {
    const bytes = now === undefined ? 0 : bytesOfMap(now)
    largest = Math.max(largest, bytes)
    if (now?.sk?.S === 'HEAD') head = Math.max(head, bytes)
  }
  const watch =
    (client: DynamoDBClient) =>
    async ({ operation, body }: Passing) => {
      if (!WRITES.has(operation)) return async () => {}
      const { TableName, Key, Item: put } = JSON.parse(body.toString()) as Write
      const at = Key ?? { pk: put?.pk ?? NONE, sk: put?.sk ?? NONE }
      const read = async () =>
        (await client.send(new GetItemCommand({ TableName, Key: at, ConsistentRead: true }))).Item
      const was = await read()
      return async (refused: boolean) => {
        const now = refused ? was : await read()
        units += writeUnits(was, now)
        weigh(now)
      }
    }
  const through: Through = async (service, endpoint) => {
    if (service !== 'dynamodb') return endpoint
    const client = new DynamoDBClient(emulatedAws(endpoint))
    const watched = await watchService(endpoint, watch(client))
    open.push({ close: () => client.destroy() }, watched)
    return watched.endpoint
  }
  return {
    through,
    clear(): void {
      units = 0
      largest = 0
      head = 0
    },
    seen: () => ({ units, largest, head }),
    close: () => Promise.all(open.map((one) => one.close())),
  }
}

const NONE = { S: '' }
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])
