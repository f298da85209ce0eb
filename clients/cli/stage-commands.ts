import type { Command } from 'commander'
import { addDeploy } from './deploy.ts'
import { addDestroy } from './destroy.ts'
import { addLogs } from './logs.ts'
import type { Session } from './session.ts'

/** The commands about a deployment itself: they talk to AWS, not to our API. */
export function addStageCommands(parent: Command, session: Session): void {
  for (const add of [addDeploy, addDestroy, addLogs]) add(parent, session)
}
