import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** A mistake planted for the simulation only, to see that it is found. */
export interface Mutant {
  readonly name: string
  readonly client?: (client: Pick<DynamoDBClient, 'send'>) => Pick<DynamoDBClient, 'send'>
  readonly store?: (store: RunStore) => RunStore
  readonly world?: (world: World) => World
}
