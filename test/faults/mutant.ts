import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** A mistake planted for the simulation only, to see that it is found. */
export interface Mutant {
  readonly name: string
  /** The mistake, in words. */
  readonly what: string
  /** It needs something to come between two requests: SQLite has no such place. */
  readonly needs_network?: true
  /** Of one sandbox, in front of the network and its faults: two requests it makes of one can be parted by anything. */
  readonly client?: (client: Pick<DynamoDBClient, 'send'>) => Pick<DynamoDBClient, 'send'>
  readonly store?: (store: RunStore) => RunStore
  /** Of one sandbox of the function `name`. */
  readonly world?: (world: World, name: string) => World
}
