import type { Command } from 'commander'
import { type PlanOptions, withPlanOptions } from './plan-options.ts'
import type { Session } from './session.ts'

export function addPlan(parent: Command, session: Session): void {
  withPlanOptions(parent.command('plan').description(ABOUT))
    .argument('[file]')
    .option('--cost', 'print only what 1,000 runs cost, a line each thing AWS bills')
    .action(async (file: string | undefined, options: PlanOptions & { readonly cost?: true }) => {
      const { planDocument } = await import('./plan-document.ts')
      await planDocument(session, file, options)
    })
}

const ABOUT = 'say what runs of a document will do, without a server: time, states, joins, costs, limits'
