import * as z from 'zod'
import { HOST_PATTERN } from './hosts.ts'

export const hostPattern = z
  .string()
  .max(253)
  .regex(HOST_PATTERN, 'a host in small letters, or *.example.com for all below it')

/** What http and webhook gates may reach besides public addresses on ports 80 and 443 (docs/operate.md, "Gates"). */
export const HttpGateSettingsSchema = z.strictObject({
  /** Further ports, of any host that is allowed. */
  ports: z.array(z.int().min(1).max(65_535)).max(20).default([]),
  /** When it is there, no other host may be asked. It opens nothing: an address that is not public stays refused. */
  hosts: z.array(hostPattern).max(100).optional(),
  /** Never asked, whatever else is allowed: names by which this deployment itself can be reached. */
  deny_hosts: z.array(hostPattern).max(100).default([]),
  /** The machine itself (127.0.0.0/8, ::1), on allowed ports. Only in the local place. */
  loopback: z.boolean().default(false),
})
export type HttpGateSettings = z.infer<typeof HttpGateSettingsSchema>

const word = z.string().min(1).max(4_000)

/** What shell gates may run: nothing, unless an entry is listed. */
export const ShellGateSettingsSchema = z.strictObject({
  /** Commands by their first words: `[npm, test]` allows `npm test` and `npm test -- x`. `[sh, -c]` allows anything. */
  allow: z.array(z.array(word).min(1).max(100)).max(100).default([]),
  /** PATH of the commands, their only environment variable; without it they have none. */
  path: z.string().min(1).max(4_000).optional(),
})
export type ShellGateSettings = z.infer<typeof ShellGateSettingsSchema>
