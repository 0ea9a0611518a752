package shim

// GuardianArg as the first argument of a program asks it to call GuardianMain.
const GuardianArg = "__guardian"
