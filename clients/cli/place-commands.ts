import type { Command } from 'commander'
import { addCompletion } from './completion.ts'
import { addConnectCommands } from './connect-commands.ts'
import { addConsole } from './console.ts'
import { addDoctor } from './doctor.ts'
import { addInit } from './init.ts'
import { addMcp } from './mcp.ts'
import { addNew } from './new.ts'
import type { Session } from './session.ts'
import { addStageCommands } from './stage-commands.ts'
import { addStart } from './start.ts'

/** The commands about where Sluice runs and what it is connected to. */
export function addPlaceCommands(parent: Command, session: Session): void {
  for (const add of [
    addInit,
    addNew,
    addStart,
    addConsole,
    addDoctor,
    addCompletion,
    addConnectCommands,
    addMcp,
    addStageCommands,
  ])
    add(parent, session)
}
