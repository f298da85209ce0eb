import { DeleteStateMachineCommand, ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn'
import { idleMachines } from '../../shared/runs/idle-machines.ts'
import type { ClearLimits } from '../../shared/runs/machine.ts'
import type { MachineUse, MachineUses } from './machine-uses.ts'
import { sdkFault } from './sdk-fault.ts'

interface Parts {
  readonly client: SFNClient
  readonly uses: MachineUses
  /** ARN of a machine by its name. */
  arnOf(name: string): string
}

/** Step Functions takes one deletion a second after the first hundred; the rest waits for the next call. */
const PER_CALL = 300

/**
 * Removes what is idle. AWS ends executions of a machine that is deleted, so: nothing runs on it, and its record says that
 * nothing was about to be started since; both are looked at before the record is marked, which fails if a start was
 * faster and which every later start sees.
 */
export async function clearMachines({ client, uses, arnOf }: Parts, limits: ClearLimits): Promise<number> {
  const known = await uses.all()
  const begun = known.filter(({ leaving }) => leaving !== undefined)
  const idle = idleMachines(
    known.filter(({ leaving }) => leaving === undefined),
    limits,
  )
  let removed = 0
  for (const use of [...begun, ...idle]) {
    if (removed === PER_CALL) break
    if (await isBusy(client, arnOf(use.name), use)) await uses.use(use.name)
    else if (await uses.leave(use)) {
      for (const name of [use.name, ...use.parts]) await remove(client, arnOf(name))
      await uses.forget(use.name)
      removed += 1
    }
  }
  return removed
}

/** Whose removal has begun was looked at before. */
async function isBusy(client: SFNClient, stateMachineArn: string, { leaving }: MachineUse): Promise<boolean> {
  if (leaving !== undefined) return false
  try {
    const list = new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', maxResults: 1 })
    const { executions = [] } = await client.send(list)
    return executions.length > 0
  } catch (error) {
    if (error instanceof Error && GONE.has(error.name)) return false
    throw sdkFault(error, { doing: 'look for executions of a machine', action: 'states:ListExecutions' })
  }
}

/** Somebody deleted it by hand, or it was never made. */
const GONE = new Set(['StateMachineDoesNotExist', 'StateMachineDeleting'])

async function remove(client: SFNClient, stateMachineArn: string): Promise<void> {
  try {
    // Of one that is gone AWS says nothing.
    await client.send(new DeleteStateMachineCommand({ stateMachineArn }))
  } catch (error) {
    throw sdkFault(error, { doing: 'remove an unused machine', action: 'states:DeleteStateMachine' })
  }
}
