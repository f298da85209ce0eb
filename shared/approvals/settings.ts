import * as z from 'zod'

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
const person = z
  .string()
  .max(200)
  .regex(/^(?:user|slack|iam|token):.*\S/, 'a person: user:NAME, slack:ID, iam:ROLE or token:ID')

/** Who is meant by a name that documents have for somebody: `owner` -> `user:ana`. */
export const NamedPeopleSchema = z.record(name, z.array(person).min(1).max(1_000))

/** `approvals` of sluice.yaml. Groups are expanded when somebody decides, never when somebody is asked. */
export const ApprovalSettingsSchema = z
  .strictObject({
    /** Who decides where a document names nobody; without it anybody who may approve in this deployment. */
    default_group: name.optional(),
    groups: z.record(name, z.array(person).max(1_000)).default({}),
  })
  .superRefine(({ default_group, groups }, context) => {
    if (default_group === undefined || Object.hasOwn(groups, default_group)) return
    const known = Object.keys(groups).join(', ') || 'none'
    context.addIssue({ code: 'custom', path: ['default_group'], message: `a group that is there; there are ${known}` })
  })
