import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { openProjectSteps } from '../modules/project-steps.ts'
import { findContainerEngine } from './containers.ts'
import { describeCalls } from './describe-calls.ts'

/**
 * The program behind every command of the CLI that reads a document which names steps or calls: {"names", ..} with the part
 * of the settings they are named in on stdin, what the project in the working folder has of them on stdout, as the local
 * place knows it (shared/steps/described-step.ts). It is a program of its own because it bundles and loads code of the
 * project, which clients may not.
 */
const WORK = {
  steps: true,
  programs: true,
  functions: true,
  integrations: true,
  containers: true,
  container_engine: true,
} as const
const AskedSchema = z.strictObject({ names: z.array(z.string()), ...SettingsSchema.pick(WORK).shape })

const { names, ...settings } = AskedSchema.parse(JSON.parse(await text(process.stdin)))
const project = openProjectSteps(process.cwd(), settings)
const known = await describeCalls(settings, names, {
  containers: () => findContainerEngine(settings),
  describeSteps: (own) => project.describe(own),
})
process.stdout.write(`${JSON.stringify(known)}\n`)
