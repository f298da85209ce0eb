import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { ProgramsSettingsSchema } from '../../shared/steps/settings.ts'
import { openProjectSteps } from '../modules/project-steps.ts'

/**
 * The program behind every command of the CLI that reads a document which names steps: {"names", "programs"} on stdin, what
 * the project in the working folder has of them on stdout, as the local place knows it (shared/steps/described-step.ts). It
 * is a program of its own because it bundles and loads code of the project, which clients may not.
 */
const AskedSchema = z.strictObject({ names: z.array(z.string()), programs: ProgramsSettingsSchema })

const { names, programs } = AskedSchema.parse(JSON.parse(await text(process.stdin)))
const known = await openProjectSteps(process.cwd(), { programs, steps: {} }).describe(names)
process.stdout.write(`${JSON.stringify(known)}\n`)
