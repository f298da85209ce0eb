import type { Command } from 'commander'
import { addCompile } from './compile.ts'
import { addGoal } from './goal.ts'
import { addGraph } from './graph.ts'
import { addPlan } from './plan.ts'
import { addSchema } from './schema.ts'
import type { Session } from './session.ts'
import { addValidate } from './validate.ts'

/** The commands about documents and goal contracts; none needs a server. */
export function addDocumentCommands(parent: Command, session: Session): void {
  for (const add of [addValidate, addCompile, addPlan, addGraph, addSchema, addGoal]) add(parent, session)
}
