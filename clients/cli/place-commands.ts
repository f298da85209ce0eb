import type { Command } from 'commander'
import { addDoctor } from './doctor.ts'
import type { Session } from './session.ts'
import { addSlack } from './slack.ts'
import { addStart } from './start.ts'

/** The commands about where Sluice runs and what it is connected to. */
export function addPlaceCommands(parent: Command, session: Session): void {
  for (const add of [addStart, addDoctor, addSlack]) add(parent, session)
}
