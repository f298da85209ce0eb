import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitTriggers } from './dynamodb-triggers.ts'

const { name, start } = everyDayEmulator()
admitTriggers(name, start)
