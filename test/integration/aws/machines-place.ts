import { randomBytes } from 'node:crypto'
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SFNClientConfig } from '@aws-sdk/client-sfn'
import { type DeployedDocuments, type FunctionEnvironment, lambdaClock } from '../../../functions/aws/core.ts'
import { openMachine } from '../../../functions/aws/machine.ts'
import { type MachineUses, machineUsesOn } from '../../../functions/aws/machine-uses.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import type { Machine } from '../../../shared/runs/machine.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'
import { ACCOUNT } from '../../emulators/aws-client.ts'
import { startDynamodb } from '../../emulators/dynamodb.ts'
import { awsSettings, lambdaArn } from './aws-settings.ts'

export interface MachinesPlace {
  readonly table: string
  /** The Machine port, as a function opens it. */
  machine(
    states: SFNClientConfig,
    more?: Readonly<Record<string, string>>,
    deployed?: DeployedDocuments,
    own?: Settings,
  ): Machine
  /** The same with its calls of either service going through this. */
  gated(states: SFNClientConfig, requestHandler: NonNullable<SFNClientConfig['requestHandler']>): Machine
  readonly uses: MachineUses
  /** Puts so many machines there, which were used then. */
  fill(count: number, used_at: number): Promise<void>
}

/** Tables for when machines were used, on one emulator. `clock` is what the adapters tell the time by. */
export async function startMachinesPlaces() {
  const emulator = await startDynamodb()
  const clients: DynamoDBClient[] = []
  return {
    aws: emulator.aws,
    async open(clock: Pick<Clock, 'now' | 'delay'> = lambdaClock): Promise<MachinesPlace> {
      const table = await emulator.createTable()
      const ids = { random: (bytes: number) => randomBytes(bytes), boot: 'test' }
      const client = new DynamoDBClient(emulator.aws)
      clients.push(client)
      const core = { clock: { ...lambdaClock, ...clock }, ids, deployed: {} }
      return {
        table,
        machine(states, more = {}, deployed = {}, own = SettingsSchema.parse({})) {
          const env = settings({ TABLE: table, ...more })
          return openMachine({ ...core, env, deployed, settings: own }, states, emulator.aws)
        },
        gated: (states, requestHandler) =>
          openMachine(
            { ...core, env: settings({ TABLE: table }) },
            { ...states, requestHandler },
            { ...emulator.aws, requestHandler },
          ),
        uses: machineUsesOn({ client, table, clock, ids }),
        async fill(count, used_at) {
          const left = Array.from({ length: count }, (_, i) => ({
            PutRequest: {
              Item: {
                pk: { S: 'MACHINES' },
                sk: { S: `MACHINE#sluice-test-x-${i}` },
                used_at: { N: String(used_at) },
              },
            },
          }))
          while (left.length > 0) {
            await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: left.splice(0, 25) } }))
          }
        },
      }
    },
    async close() {
      for (const client of clients) client.destroy()
      await emulator.close()
    },
  }
}

const ROLE = `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines`

function settings(more: Readonly<Record<string, string>>): FunctionEnvironment {
  const arns = FUNCTIONS.map(({ name }) => [`${name.toUpperCase().replaceAll('-', '_')}_ARN`, lambdaArn(name)])
  return awsSettings({ STATE_MACHINE_ROLE_ARN: ROLE, ...Object.fromEntries(arns), ...more })
}
