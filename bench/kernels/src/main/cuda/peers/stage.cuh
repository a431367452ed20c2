// A stage of a simulation in a process of its own: it does what the host says (ProcessStage), a command a line.
//
//   heap BYTES              what objects live in; once, before all others
//   type PLACES BYTES       a type's arrays, in the order of types: of so many objects, or pointers to them, of so many bytes
//   set WORD VALUE          a word of the run's own
//   array WORD BYTES        an array of zeroes, which the word then points to
//   launch KERNEL
//   list TYPE               by its number
//   read WORD COUNT         prints as many numbers of 32 bits, of the array that the word points to
//   used                    prints how many objects there are, where that can be known
//   begin LISTS             begins to take the time of all that follows, or with 1 that of lists alone
//   end                     prints the microseconds
//
// To be included after the program's source, by a file with the machine under it.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

Run run;

// The machine's.
void* zeroes(u64 bytes);
void copyOut(void* to, const void* from, u64 bytes);
void launch(void* kernel);
void makeHeap(u64 bytes);
void list(u32 type);
u64 used();
void begin(bool ofLists);
double end();

// The program has its kernels' names for all that is linked: one that a library has, too, takes that one's calls.
void* kernelNamed(const std::string& name) {
    if (dlsym(RTLD_NEXT, name.c_str()) != nullptr) {
        std::fprintf(stderr, "kernel %s has the name of a library's function\n", name.c_str());
        std::exit(1);
    }
    void* const kernel = dlsym(RTLD_DEFAULT, name.c_str());
    if (kernel == nullptr) {
        std::fprintf(stderr, "no kernel %s\n", name.c_str());
        std::exit(1);
    }
    return kernel;
}

void makeTable(u32 type, u64 places, u64 bytes) {
    Table& table = run.tables[type];
    table.capacity = static_cast<u32>((places + 255) / 256 * 256);
    for (u64& array : table.arrays) {
        array = reinterpret_cast<u64>(zeroes(table.capacity * bytes));
    }
    table.index = static_cast<Index*>(zeroes(sizeof(Index)));
}

void print(u32 word, u64 count) {
    std::vector<u32> numbers(count);
    copyOut(numbers.data(), reinterpret_cast<const void*>(run.words[word]), count * sizeof(u32));
    for (const u32 number : numbers) {
        std::cout << number << '\n';
    }
    std::cout << std::flush;
}

// Exit status: 0 at the end of commands, 1 if there is no such command or kernel, or its name is a library's.
int followCommands() {
    std::ios::sync_with_stdio(false);
    u32 types = 0;
    std::string command;
    while (std::cin >> command) {
        std::string name;
        u64 first = 0;
        u64 second = 0;
        if (command == "launch") {
            std::cin >> name;
            launch(kernelNamed(name));
        } else if (command == "list") {
            std::cin >> first;
            list(static_cast<u32>(first));
        } else if (command == "set") {
            std::cin >> first >> second;
            run.words[first] = second;
        } else if (command == "heap") {
            std::cin >> first;
            makeHeap(first);
        } else if (command == "type") {
            std::cin >> first >> second;
            makeTable(types++, first, second);
        } else if (command == "array") {
            std::cin >> first >> second;
            run.words[first] = reinterpret_cast<u64>(zeroes(second));
        } else if (command == "read") {
            std::cin >> first >> second;
            print(static_cast<u32>(first), second);
        } else if (command == "used") {
            std::cout << used() << std::endl;
        } else if (command == "begin") {
            std::cin >> first;
            begin(first != 0);
        } else if (command == "end") {
            std::cout << end() << std::endl;
        } else {
            return 1;
        }
    }
    return 0;
}

}  // namespace
